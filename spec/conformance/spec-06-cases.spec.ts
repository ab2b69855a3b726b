import { itHasTestsForCases, numbersFrom, type Proof } from '../support/conformance-cases.ts';

const INIT = 'main/init/init.spec.ts';
const UPGRADE = 'main/init/upgrade.spec.ts';
const RULES = 'conformance/operations/version-rules.spec.ts';
const FIRST_HOUR = 'main/first-hour.spec.ts';
const ADMISSION = 'conformance/agents/admission.spec.ts';
const ARGV = 'golden/backend/argv.json';
const CONFIG = 'golden/backend/config.json';
const PROBES = 'golden/backend/probes.json';
const SIGNALS = 'golden/backend/signals.json';
const RECORDED_INIT = 'golden/backend/init.json';

/** The conformance cases of `spec/06` that concern the backend, by their numbers. */
const CASES: Readonly<Record<number, readonly Proof[]>> = {
  1: [[ARGV, '"version"']],
  2: [[ARGV, '"--no-such-flag"']],
  3: [
    [CONFIG, '"-c"'],
    ['config/parsing/flags.spec.ts', 'rejects a named file that is missing, and any file that is not a YAML map'],
  ],
  4: [['config/parsing/flags.spec.ts', 'prefers flags over the environment, then the file, then the defaults']],
  5: [['config/tls.spec.ts', 'require a certificate and its key together']],
  6: [['config/backend.spec.ts', 'rejects an unknown log level and names it']],
  7: [
    ['config/reference-flags.spec.ts', 'starts with one warning that names each of them and its reason'],
    ['config/reference-flags.spec.ts', "rule: 'etcd-initial-cluster: clustering is not supported'"],
  ],
  8: [
    [INIT, 'refuses a state directory that another backend uses, and names its process'],
    [INIT, 'starts on the state directory of a killed backend'],
  ],
  9: [[SIGNALS, 'backend is running and ready to accept events']],
  10: [
    [PROBES, '/health?timeout=x'],
    ['http/routes/status.spec.ts', 'is healthy when the store answers'],
  ],
  11: [
    [PROBES, '/version'],
    [PROBES, '/metrics'],
    [PROBES, '/ready'],
  ],
  12: [
    [PROBES, '--api-serve-wait-time'],
    ['conformance/api/api-status.spec.ts', 'wait, for any client, until the time is over'],
  ],
  13: [
    ['conformance/events/nothing-lost.spec.ts', 'notifies its agents, answers open requests, and exits, however busy'],
    ['main/backend.spec.ts', 'stops cleanly when SIGTERM arrives at the moment that it reports to be ready'],
  ],
  14: [['conformance/ledger/event-log.spec.ts', 'spec/06 cases 14 and 16: ']],
  15: [[SIGNALS, 'set log level to trace']],
  16: [
    ['conformance/ledger/event-log.spec.ts', 'spec/06 case 16: '],
    [
      'conformance/ledger/event-log.spec.ts',
      'has a line for each stored event of agents, of the API and of the backend itself',
    ],
  ],
  17: [
    [INIT, 'exits with 0 once, then with 3, or with 0 if an initialised store is to be ignored'],
    [RECORDED_INIT, 'both cluster-admin-username and cluster-admin-password are required to be set'],
  ],
  18: [[RECORDED_INIT, 'P@ssw0rd!']],
  19: [
    [INIT, 'accepts an API key, which then authenticates requests and is not stored in plain text'],
    ['golden/backend/init-key.json', 'CLUSTER_ADMIN_API_KEY'],
  ],
  20: [['main/init/interactive-init.spec.ts', 'and leaves the store uninitialised']],
  21: [[INIT, 'initialises the store of a running backend, where the administrator can log in at once']],
  22: [[INIT, 'succeeds once when three run at the same time']],
  23: [[FIRST_HOUR, 'log that init must run when the store is not initialized, and only then']],
  24: [
    [UPGRADE, 'ends when the answer is no'],
    [UPGRADE, 'wants --skip-confirm without a terminal'],
  ],
  25: [[UPGRADE, 'upgrades it with --skip-confirm, after a backup that equals the old store']],
  26: [[UPGRADE, 'says the second time that it was already run, and changes nothing']],
  27: [[UPGRADE, 'says that nothing was upgraded on a fresh store, without a question']],
  // Decided otherwise: an upgrade takes the store for itself, and agents keep their results meanwhile.
  28: [['../docs/upgrade.md', 'The backend of mon is upgraded while it is stopped']],
  29: [
    ['crash/upgrade.spec.ts', 'leads to the same store when it is killed at any point that it reports'],
    ['crash/upgrade.spec.ts', 'leads to the same store when it is killed at random instants'],
  ],
  30: [[UPGRADE, 'refuses a store that a newer version wrote, with exit code 4 and a way on']],
  31: [
    [RULES, 'ends with exit code 5 and names the checks, at each restart'],
    [RULES, 'succeeds after the recipe of the message'],
  ],
  32: [[UPGRADE, 'refuses a store that a newer version wrote, with exit code 4 and a way on']],
  33: [['conformance/api/api-configuration.spec.ts', 'resource is invalid: namespace is not empty']],
  34: [
    [ADMISSION, 'case 60: is refused with 402 to a new agent and granted to a known one'],
    [ADMISSION, 'case 60: makes the API refuse new entities and allow updates'],
  ],
  35: [[ADMISSION, 'keeps existing entities when the limit is lowered, and admits no new ones']],
  36: [
    [RULES, 'ends with exit code 5 and names both directories'],
    ['main/process/former-state-dir.spec.ts', 'starts when a directory is configured'],
  ],
  37: [['conformance/operations/tls.spec.ts', 'with a certificate with a common name only']],
  38: [['main/maintenance/backup.spec.ts', 'case 38: a running backend is backed up, and its store is not replaced']],
  39: [['packaging/debian-package.spec.ts', 'case 39: is installed with a user and directories']],
};
describe('the conformance cases of spec/06 that concern the backend', () => {
  itHasTestsForCases(CASES, numbersFrom(1, 39));
});

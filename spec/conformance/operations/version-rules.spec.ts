import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { decideOffline } from '../../../src/main/init/decide-offline.ts';
import { systemClock } from '../../../src/main/process/system-clock.ts';
import { resourceKey } from '../../../src/store/encoding/keyspace.ts';
import { BackendProcess, initialiseState, runProgram } from '../../support/backend-process.ts';
import { perSuite } from '../../support/fixture.ts';
import { PipelineUser, reference } from '../../support/pipeline-user.ts';
import { RealTimeBackend } from '../../support/real-time-backend.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** The rows of the seed's version-specific rules, each with the tests that prove it, or with the reason in docs/upgrade.md. */
const RULES: Readonly<Record<string, readonly (readonly [file: string, title: string])[]>> = {
  '6.5.0': [
    ['conformance/operations/version-rules.spec.ts', 'runs the handlers of its check, and no pipelines'],
    ['conformance/pipeline/pipeline-cases.spec.ts', 'case 30: '],
  ],
  '6.4.0': [
    ['main/init/upgrade.spec.ts', 'upgrades it with --skip-confirm, after a backup that equals the old store'],
    ['main/init/upgrade.spec.ts', 'refuses a store that a newer version wrote, with exit code 4'],
    ['conformance/operations/tls.spec.ts', 'with a certificate with a common name only'],
  ],
  '6.2.0': [
    ['conformance/operations/version-rules.spec.ts', 'ends with exit code 5 and names the checks, at each restart'],
  ],
  '6.1.0': [['main/init/upgrade.spec.ts', 'is needed before start and init, which name it and change nothing']],
  '6.0': [
    ['main/init/upgrade.spec.ts', 'refuses a store that a newer version wrote, with exit code 4'],
    ['conformance/api/api-configuration.spec.ts', 'resource is invalid: namespace is not empty'],
  ],
  '5.16.0': [
    ['conformance/agents/admission.spec.ts', 'case 60: is refused with 402 to a new agent and granted to a known one'],
    [
      'conformance/agents/admission.spec.ts',
      'keeps existing entities when the limit is lowered, and admits no new ones',
    ],
  ],
  '5.8.0': [['faults/second-backend.spec.ts', 'refuses to start within two seconds and names the first one']],
  '5.1.0': [['conformance/operations/version-rules.spec.ts', 'ends with exit code 5 and names both directories']],
};

describe('the version-specific rules of the seed', () => {
  const page = readFileSync(`${ROOT}docs/upgrade.md`, 'utf8');

  for (const [version, proofs] of Object.entries(RULES)) {
    it(`has a row in docs/upgrade.md, and tests: ${version}`, () => {
      expect(page).to.match(new RegExp(`^\\| ${version.replaceAll('.', '\\.')} +\\|`, 'm'));
      const missing = proofs.filter(([file, title]) => !readFileSync(`${ROOT}spec/${file}`, 'utf8').includes(title));
      expect(missing).to.deep.equal([]);
    });
  }
});

describe('an agent from before 6.5.0', () => {
  const directory = perSuite(temporaryDirectory, (made) => made.remove());
  const backend = perSuite(() => RealTimeBackend.start());
  const api = perSuite(() => backend.login());
  const user = perSuite(() => new PipelineUser(api, directory.path));

  it('runs the handlers of its check, and no pipelines', async () => {
    await user.handler('old-way');
    await user.handler('new-way');
    const handler = reference('Handler', 'new-way');
    await user.put('pipelines', 'p', { workflows: [{ name: 'w', handler }] });
    // Such an agent sends the check as it was requested. It does not repeat its pipelines in the event.
    await user.event('check', { handlers: ['old-way'], pipelines: [reference('Pipeline', 'p')] });
    expect(await user.outcomeLines('check', 1)).to.deep.equal(['old-way handled']);
  });
});

describe('a start with checks in namespaces that do not exist (rule of 6.2.0)', function () {
  this.timeout(60_000);
  const directory = perSuite(temporaryDirectory, (made) => made.remove());
  const stateDir = (): string => join(directory.path, 'state');
  const start = () => runProgram(['start', '--state-dir', stateDir(), '--api-listen-address=127.0.0.1:0']);

  before(async () => {
    await initialiseState(stateDir());
    await decideOffline(join(stateDir(), 'store'), systemClock, (decision) => {
      for (const name of ['cpu', 'disk']) {
        decision.put('resources', resourceKey('checks', 'ghost', name), {
          metadata: { name, namespace: 'ghost' },
          command: 'true',
          interval: 60,
          subscriptions: ['linux'],
          publish: true,
        });
      }
    });
  });

  it('ends with exit code 5 and names the checks, at each restart', async () => {
    for (const attempt of [1, 2]) {
      const { code, stderr } = await start();
      expect(code, `attempt ${attempt}`).to.equal(5);
      expect(stderr).to.contain('checks are in namespaces that do not exist: ghost/cpu, ghost/disk;');
      expect(stderr).to.contain('upgrade --create-missing-namespaces');
    }
  });

  it('succeeds after the recipe of the message: create the namespaces, delete the checks, delete the namespaces', async () => {
    const upgrade = await runProgram(['upgrade', '--state-dir', stateDir(), '--create-missing-namespaces']);
    expect(upgrade.stdout).to.contain('created namespaces: ghost\n');
    expect(upgrade.code).to.equal(0);
    const backend = await BackendProcess.start({ stateDir: stateDir() });
    try {
      const api = await backend.login();
      for (const name of ['cpu', 'disk']) expect((await api.delete(`/ns/ghost/checks/${name}`)).status).to.equal(204);
      expect((await api.delete('/api/core/v2/namespaces/ghost')).status).to.equal(204);
    } finally {
      await backend.stop();
    }
    const again = await runProgram(['upgrade', '--state-dir', stateDir(), '--create-missing-namespaces']);
    expect(again.stdout).to.contain('no namespace is missing\n');
  });
});

describe('a start with data in the default directory from before 5.1.0', () => {
  const directory = perSuite(temporaryDirectory, (made) => made.remove());
  /** Runs the rest of its arguments with `directory` in the place of /var/lib. */
  const elsewhere = (): string[] => [
    'unshare',
    '--mount',
    'sh',
    '-c',
    `mount --bind '${directory.path}' /var/lib && exec "$0" "$@"`,
  ];

  before(async () => {
    await mkdir(join(directory.path, 'mon/store'), { recursive: true });
  });

  it('ends with exit code 5 and names both directories', async () => {
    for (const command of ['start', 'init']) {
      const admin = command === 'init' ? ['--cluster-admin-username=a', '--cluster-admin-password=12345678'] : [];
      const { code, stderr } = await runProgram([command, ...admin], { withinMs: 20_000, prefix: elsewhere() });
      expect(stderr).to.contain('found data in the former default state directory /var/lib/mon; set state-dir to it');
      expect(code).to.equal(5);
    }
  });
});

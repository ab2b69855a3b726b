import { itHasTestsForCases, numbersFrom, type Proof } from '../support/conformance-cases.ts';

const COMMAND_LINE = 'golden/agent/01-command-line.json';
const CONFIGURATION = 'golden/agent/02-configuration.json';
const CONNECTION = 'golden/agent/03-connection.json';
const EXECUTION = 'golden/agent/04-check-execution.json';
const TOKENS = 'golden/agent/05-tokens.json';
const HOOKS = 'golden/agent/06-hooks.json';
const ALLOW_LIST = 'golden/agent/07-allow-list.json';
const METRICS = 'golden/agent/08-metrics.json';
const THRESHOLDS = 'golden/agent/09-thresholds.json';
const HTTP_API = 'golden/agent/10-http-api.json';
const QUEUE = 'golden/agent/11-queue.json';
const SOCKETS = 'golden/agent/12-sockets.json';
const STATSD = 'golden/agent/13-statsd.json';
const ASSETS = 'golden/agent/15-assets.json';
const TLS = 'golden/agent/16-tls.json';
const SHUTDOWN = 'golden/agent/17-shutdown-logging.json';

/** The conformance cases of `spec/03`, by their numbers, and the cases 59 and 60 of `spec/05`. */
const CASES: Readonly<Record<number, readonly Proof[]>> = {
  1: [[COMMAND_LINE, '"scenario":"validation"']],
  2: [
    [COMMAND_LINE, '"scenario":"config-file-errors"'],
    [CONFIGURATION, '"scenario":"default-file-absent"'],
  ],
  3: [[CONFIGURATION, '"scenario":"flag-over-env-over-file"']],
  4: [[CONFIGURATION, '"scenario":"lists-on-the-command-line"']],
  5: [[CONFIGURATION, '"scenario":"maps-on-the-command-line"']],
  6: [['config/agent.spec.ts', `{ flag: 'labels', text: '{"a":"b"}'`]],
  7: [[COMMAND_LINE, '"scenario":"validation"']],
  8: [[COMMAND_LINE, '"scenario":"validation"']],
  9: [[COMMAND_LINE, '"scenario":"validation"']],
  10: [[COMMAND_LINE, '"scenario":"validation"']],
  11: [[COMMAND_LINE, '"scenario":"validation"']],
  12: [
    [CONFIGURATION, '"scenario":"deprecated-flags"'],
    [CONFIGURATION, '"scenario":"misspelt-interval-variable"'],
  ],
  13: [[CONNECTION, '"scenario":"two-urls-one-dead"']],
  14: [[CONNECTION, '"scenario":"refused-402"']],
  15: [[TLS, '"scenario":"client-certificate-over-plain-ws"']],
  16: [[CONNECTION, '"scenario":"entity-config-never-comes"']],
  17: [[CONNECTION, '"scenario":"silent-backend-is-left"']],
  18: [[EXECUTION, '"scenario":"statuses"']],
  19: [[EXECUTION, '"scenario":"refusals"']],
  20: [[EXECUTION, '"scenario":"refusals"']],
  21: [[EXECUTION, '"scenario":"timeouts"']],
  22: [[EXECUTION, '"scenario":"statuses"']],
  23: [
    [EXECUTION, '"scenario":"statuses"'],
    [EXECUTION, '"scenario":"stdin"'],
  ],
  24: [[EXECUTION, '"scenario":"environment"']],
  25: [[TOKENS, '"scenario":"values"']],
  26: [[TOKENS, '"scenario":"errors"']],
  27: [[TOKENS, '"scenario":"errors"']],
  28: [
    [TOKENS, '"scenario":"values"'],
    [EXECUTION, '"scenario":"stdin"'],
  ],
  29: [[EXECUTION, '"scenario":"assets-disabled"']],
  30: [[ASSETS, '"scenario":"failures"']],
  31: [[ASSETS, '"scenario":"install-and-run"']],
  32: [[ASSETS, '"scenario":"selection"']],
  33: [
    [ALLOW_LIST, '"scenario":"matching"'],
    [ALLOW_LIST, '"scenario":"refusal-details"'],
  ],
  34: [[HOOKS, '"scenario":"selection"']],
  35: [[HOOKS, '"scenario":"failures"']],
  36: [[EXECUTION, '"scenario":"discard-output"']],
  37: [[EXECUTION, '"scenario":"one-megabyte-output"']],
  38: [
    [METRICS, '"scenario":"spec-examples"'],
    [METRICS, '"scenario":"nagios"'],
  ],
  39: [[METRICS, '"scenario":"graphite"']],
  40: [[THRESHOLDS, '"scenario":"thresholds"']],
  41: [
    [HTTP_API, '"scenario":"bad-events"'],
    [HTTP_API, '"scenario":"accepted-events"'],
  ],
  42: [[HTTP_API, '"scenario":"accepted-events"']],
  43: [[HTTP_API, '"scenario":"accepted-events"']],
  44: [
    [CONNECTION, '"scenario":"nothing-listens"'],
    [QUEUE, '"scenario":"down-then-up-in-order"'],
    [QUEUE, '"scenario":"survives-stop-and-start"'],
  ],
  45: [[HTTP_API, '"scenario":"burst-and-rate"']],
  46: [[HTTP_API, '"scenario":"routes"']],
  47: [
    [SOCKETS, '"scenario":"fields"'],
    [SOCKETS, '"scenario":"framing"'],
  ],
  48: [
    [SOCKETS, '"scenario":"framing"'],
    [SOCKETS, '"scenario":"invalid"'],
  ],
  49: [[SOCKETS, '"scenario":"udp"']],
  50: [[SOCKETS, '"scenario":"udp-after-garbage"']],
  51: [[STATSD, '"scenario":"types"']],
  52: [
    [STATSD, '"scenario":"types"'],
    [STATSD, '"scenario":"names"'],
  ],
  53: [[STATSD, '"scenario":"types"']],
  54: [[CONNECTION, '"scenario":"keepalive-interval"']],
  55: [[CONFIGURATION, '"scenario":"agent-managed-entity"']],
  56: [[SHUTDOWN, '"scenario":"stop-by-SIGTERM"']],
  57: [[SHUTDOWN, '"scenario":"sigusr1"']],
  58: [[CONNECTION, '"scenario":"entity-config-replaces-local"']],
  59: [
    [SOCKETS, '"scenario":"framing"'],
    [SOCKETS, '"scenario":"invalid"'],
  ],
  60: [
    [SOCKETS, '"scenario":"udp-after-garbage"'],
    [SOCKETS, '"scenario":"udp-after-ping"'],
  ],
};

describe('the conformance cases of spec/03', () => {
  itHasTestsForCases(CASES, numbersFrom(1, 60));
});

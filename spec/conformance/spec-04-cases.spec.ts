import { itHasTestsForCases, numbersFrom, type Proof } from '../support/conformance-cases.ts';

const SCHEDULE = 'conformance/schedules/schedule-cases.spec.ts';
const STATE = 'conformance/schedules/state-schedule.spec.ts';
const CRON = 'conformance/schedules/schedule-cron.spec.ts';
const ROUND_ROBIN = 'conformance/schedules/round-robin.spec.ts';
const PROXY = 'conformance/schedules/proxy-requests.spec.ts';
const RUNS = 'conformance/api/api-check-runs.spec.ts';
const PIPELINE = 'conformance/pipeline/pipeline-cases.spec.ts';
const DELIVERY = 'conformance/pipeline/delivery-cases.spec.ts';
const REQUESTS = 'golden/schedule/requests.json';
const HANDLERS = 'golden/pipeline/handlers.json';
const FILTERS = 'golden/pipeline/filters.json';
const TRUTH = 'golden/pipeline/filter-truth.json';
const MUTATORS = 'golden/pipeline/mutators.json';
const PIPELINES = 'golden/pipeline/pipelines.json';
const AGENT = 'golden/pipeline/agent.json';

/** The conformance cases of `spec/04`, by their numbers. */
const CASES: Readonly<Record<number, readonly Proof[]>> = {
  1: [
    [STATE, 'with an interval of ${interval} s first runs after ${firstMs} ms'],
    ['golden/schedule/splay.json', 'check_cpu'],
  ],
  2: [[SCHEDULE, 'case 2: ']],
  3: [[STATE, 'keeps its grid after a restart, without runs for missed ticks']],
  4: [[SCHEDULE, 'case 4: ']],
  5: [[SCHEDULE, 'case 5: ']],
  6: [[SCHEDULE, 'case 6: ']],
  7: [['golden/schedule/cron.json', '"cron":"0 0 */2 * 1","from":"2024-02-10T00:00:00Z"']],
  8: [
    [CRON, 'F15: runs once for each hour and day when daylight saving time begins'],
    [CRON, 'F15: runs at both occurrences of a repeated time when daylight saving time ends'],
    ['golden/schedule/cron.json', '"cron":"CRON_TZ=America/New_York 30 1 * * *","from":"2024-11-02T12:00:00Z"'],
  ],
  9: [
    [STATE, 'does not run while it is not published, and returns to its grid'],
    [RUNS, 'are sent at once, published or not'],
  ],
  10: [['conformance/schedules/schedule-skips.spec.ts', 'are those in a subdue window, with that reason']],
  11: [['rules/subdue.spec.ts', "'2024-06-03T11:00:00Z', 'daily', '2024-06-09T11:00:00.900Z', true"]],
  12: [['conformance/schedules/schedule-skips.spec.ts', 'do not follow from weekly windows, which have no effect']],
  13: [[REQUESTS, 'two-subs']],
  14: [
    ['conformance/agents/wire-subscriptions.spec.ts', 'bring it a new entity_config and the checks of an added one'],
  ],
  15: [[REQUESTS, 'all-fields']],
  16: [
    [SCHEDULE, 'case 16: '],
    [REQUESTS, 'missing-only'],
  ],
  17: [
    [ROUND_ROBIN, 'runs on one agent at each tick, in the order of names'],
    [ROUND_ROBIN, 'skips an agent that left before its position was reached'],
    ['golden/schedule/ring.json', 'three members, one per tick'],
  ],
  18: [[ROUND_ROBIN, 'waits for its first agent and starts one interval after it joined']],
  19: [[ROUND_ROBIN, 'never runs if it has subscriptions of entities only']],
  20: [[PROXY, 'spreads its requests over the configured part of its interval, including the first']],
  21: [
    [REQUESTS, 'p-none'],
    [REQUESTS, 'p-system'],
  ],
  22: [[PROXY, 'skips an entity whose tokens cannot be substituted, and logs it']],
  23: [[PROXY, 'requests each entity from the next agent if it is a round-robin check']],
  24: [
    [RUNS, 'use the subscriptions in the request instead of those of the check'],
    [RUNS, "['/ns/default/checks/none/execute', {}, 404]"],
  ],
  25: [
    [STATE, 'starts a new grid when its interval is changed'],
    [STATE, 'uses its new definition from its next tick on'],
  ],
  26: [[SCHEDULE, 'case 26: ']],
  27: [
    [PIPELINE, 'case 27: '],
    [HANDLERS, 'legacy-all-missing'],
  ],
  28: [
    [PIPELINE, 'case 28: '],
    [HANDLERS, 'set-three-levels-sibling'],
  ],
  29: [
    [PIPELINE, 'case 29: '],
    [HANDLERS, 'legacy-check-and-metrics'],
  ],
  30: [
    [PIPELINE, 'case 30: '],
    [PIPELINES, 'pipeline-in-check-only'],
  ],
  31: [
    [PIPELINE, 'case 31: '],
    [PIPELINES, 'pipeline-set-handler'],
  ],
  32: [
    [PIPELINE, 'cases 32 and 33: '],
    [PIPELINES, 'pipeline-denied-then-next'],
    [HANDLERS, 'legacy-exit-1-continues'],
  ],
  33: [
    [PIPELINE, 'cases 32 and 33: '],
    [PIPELINES, 'pipeline-handler-missing'],
    [PIPELINES, 'pipeline-filter-missing'],
  ],
  34: [
    [PIPELINE, 'case 34: '],
    [FILTERS, 'is-incident-2-0-0'],
  ],
  35: [
    [PIPELINE, 'case 35: '],
    [FILTERS, 'has-metrics-empty-points'],
  ],
  36: [
    [PIPELINE, 'case 36: '],
    [TRUTH, 'event.check.labels.nolabel.match(/op/)'],
  ],
  37: [
    [PIPELINE, 'case 37: '],
    [FILTERS, 'filter-deny-one-true'],
  ],
  38: [
    [PIPELINE, 'case 38: '],
    [FILTERS, 'when-allow-inside'],
  ],
  39: [
    [PIPELINE, 'case 39: '],
    [TRUTH, 'weekday(1520275913) === 1'],
  ],
  40: [[PIPELINE, 'case 40: ']],
  41: [
    [PIPELINE, 'case 41: '],
    [TRUTH, '/(?i)HTTP/.test(event.check.name)'],
  ],
  42: [
    [PIPELINE, 'case 42: '],
    [TRUTH, 'event.id.length === 16'],
  ],
  43: [
    [PIPELINE, 'case 43: '],
    [FILTERS, 'redact-default'],
  ],
  44: [
    [PIPELINE, 'case 44: '],
    [HANDLERS, 'handler-tcp-output'],
  ],
  45: [
    [PIPELINE, 'case 45: '],
    [MUTATORS, 'mutator-exit-1'],
    [MUTATORS, 'mutator-cat'],
  ],
  46: [
    [PIPELINE, 'case 46: '],
    [MUTATORS, 'js-mutator-modify'],
  ],
  47: [
    [PIPELINE, 'case 47: '],
    [MUTATORS, 'js-mutator-timeout'],
  ],
  48: [
    [DELIVERY, 'case 48: '],
    [HANDLERS, 'handler-timeout'],
  ],
  49: [
    [DELIVERY, 'case 49: '],
    [HANDLERS, 'handler-env'],
  ],
  50: [
    [DELIVERY, 'case 50: '],
    [HANDLERS, 'handler-udp-too-big'],
  ],
  51: [
    [DELIVERY, 'case 51: '],
    [AGENT, 'agent-registration'],
  ],
  52: [
    [DELIVERY, 'case 52: '],
    [AGENT, 'agent-keepalive-filtered'],
  ],
  53: [
    [DELIVERY, 'case 53: '],
    [AGENT, 'agent-metrics-only'],
  ],
  54: [[DELIVERY, 'case 54: ']],
  55: [
    [DELIVERY, 'case 55: '],
    [HANDLERS, 'handler-secret'],
  ],
  56: [
    [DELIVERY, 'case 56: '],
    [AGENT, 'agent-ttl-expiry-silenced'],
    [AGENT, 'silenced-after-a-while'],
  ],
};

describe('the conformance cases of spec/04', () => {
  itHasTestsForCases(CASES, numbersFrom(1, 56));
});

import type { RecordedStep } from './earlier-recording.ts';

interface EarlierException {
  file: string;
  /** Step numbers from 0. */
  steps: readonly number[];
  /** What replaces the answer; a step without it is not sent. */
  ours?: RecordedStep['ours'];
  why: string;
}

const ONE_RECORD = 'in ours a result and its event are one record';
const DECODED = 'ours decodes the values of a query';
const SORTED = 'ours keeps lists in the order of datacenter, client and check, so that pages are stable';
const NUMBERS = 'ours takes JSON as RFC 8259 defines it, without comments, and a status has 32 bits';
const WORKERS = 'ours counts its pipeline workers as consumers';
const OF_PAGES = 'on the port of the dashboard, paths without a route are those of its pages';
const OTHER_STEP = 'an earlier step had another result';
const TYPED = 'JSON is always typed';
const OF_AGENT = 'the sockets of the agent answer as in the recordings of the second generation';
const NO_ROUTES = 'the HTTP API of the agent has no list of its routes';

/** Steps at which this backend answers differently, and which the recording does not name. */
export const EARLIER_EXCEPTIONS: readonly EarlierException[] = [
  {
    file: '04-results.json',
    steps: [127],
    ours: { status: 200, body: { id: '<uuid>', check: { name: 'm2', status: 1, history: ['1'] }, occurrences: 1 } },
    why: ONE_RECORD,
  },
  {
    file: '05-clients.json',
    steps: [59],
    ours: {
      handled: [
        { client: 'sw-2', check: 'port', action: 'create', status: 2, occurrences: 1 },
        { client: 'sw-2', check: 'port', action: 'create', status: 1, occurrences: 1 },
        { client: 'sw-2', check: 'port', action: 'create', status: 1, occurrences: 2 },
        { client: 'sw-2', check: 'port', action: 'resolve', status: 0, occurrences: 1 },
      ],
    },
    why: 'occurrences of a resolution count anew, as in the second generation',
  },
  {
    file: '07-stashes.json',
    steps: [35],
    ours: {
      status: 200,
      headers: { 'X-Pagination': '{"limit":1,"offset":1,"total":4}' },
      body: [{ path: '<string>' }],
    },
    why: 'ours does not count stashes that have expired',
  },
  {
    file: '08-checks-request.json',
    steps: [21],
    ours: { body: { check: { name: 'ping', subscribers: ['entity:agent-1'], output: 'pong\n', history: [0, 0] } } },
    why: 'a second-generation request carries the subscriptions that it was sent to',
  },
  { file: '08-checks-request.json', steps: [22, 25, 26], why: 'the second generation has no such definitions' },
  { file: '09-http-rules.json', steps: [68, 69], ours: { status: 400 }, why: NUMBERS },
  { file: '09-http-rules.json', steps: [80], ours: { body: [] }, why: OTHER_STEP },
  {
    file: '10-pages-filters.json',
    steps: [48],
    ours: { body: [{ check: { name: 'a' } }, { check: { name: 'a' } }, { check: { name: 'a' } }] },
    why: DECODED,
  },
  {
    file: '10-pages-filters.json',
    steps: [54],
    ours: { body: [{ client: { name: 'p1' }, check: { name: 'a' } }] },
    why: SORTED,
  },
  { file: '11-auth.json', steps: [17], ours: { status: 401, text: '' }, why: 'the reference fails inside' },
  {
    file: '12-health-info.json',
    steps: [8, 9],
    ours: {
      status: 412,
      body: [
        'keepalive consumers (1) less than min_consumers (1000)',
        'result consumers (1) less than min_consumers (1000)',
      ],
    },
    why: WORKERS,
  },
  { file: '13-sockets.json', steps: [12, 13, 14, 16, 22], ours: { text: 'invalid' }, why: OF_AGENT },
  { file: '13-sockets.json', steps: [15], ours: { text: 'ok' }, why: OF_AGENT },
  { file: '13-sockets.json', steps: [49], ours: { status: 404 }, why: NO_ROUTES },
  { file: '20-dashboard-two-dcs.json', steps: [44, 49, 69], ours: { status: 404 }, why: OF_PAGES },
  {
    file: '20-dashboard-two-dcs.json',
    steps: [63],
    ours: { body: [{ _id: 'alpha/both/disk' }, { _id: 'beta/only-b/odd' }] },
    why: OTHER_STEP,
  },
  { file: '21-dashboard-writes.json', steps: [29], ours: { status: 404 }, why: 'the dashboard of ours shows a stash' },
  {
    file: '21-dashboard-writes.json',
    steps: [44],
    ours: {
      body: [
        { name: 'alpha', info: { transport: { results: { messages: 0, consumers: 1 } } }, metrics: { events: 1 } },
        { name: 'beta', info: { transport: { results: { messages: 0, consumers: 1 } } }, metrics: { clients: 2 } },
      ],
    },
    why: WORKERS,
  },
  {
    file: '21-dashboard-writes.json',
    steps: [45],
    ours: { body: { name: 'alpha', metrics: { clients: 1, events: 1, silenced: 1 } } },
    why: OTHER_STEP,
  },
  {
    file: '21-dashboard-writes.json',
    steps: [50, 52, 54],
    ours: { headers: { 'Content-Type': 'application/json' } },
    why: TYPED,
  },
  { file: '21-dashboard-writes.json', steps: [56], why: OF_PAGES },
  {
    file: '21-dashboard-writes.json',
    steps: [57],
    ours: {
      status: 300,
      body: [
        { _id: 'alpha/box', output: 'x' },
        { _id: 'beta/box', output: 'x' },
      ],
    },
    why: OTHER_STEP,
  },
  { file: '22-dashboard-one-dc.json', steps: [13], ours: { body: [{ _id: 'alpha/box/http' }] }, why: OTHER_STEP },
];

/** Returns what replaces members of a recorded step. */
export function exceptionAt(file: string, index: number): { ours?: RecordedStep['ours']; isSkipped?: true } {
  const found = EARLIER_EXCEPTIONS.find((one) => one.file === file && one.steps.includes(index));
  if (found === undefined) return {};
  return found.ours === undefined ? { isSkipped: true } : { ours: found.ours };
}

import { Worker } from 'node:worker_threads';
import { systemClock } from '../../src/main/process/system-clock.ts';
import type { Log } from '../../src/ports/log.ts';
import { type Event, parseEvent } from '../../src/resources/event.ts';
import { decideSimply } from '../../src/sandbox/decide-simply.ts';
import type { StoredFilter } from '../../src/sandbox/messages.ts';
import { Sandbox } from '../../src/sandbox/sandbox.ts';

/** Decisions per second. */
export interface FilterRates {
  /** With one thread, of a filter that needs the engine. */
  inThread: number;
  /** The same, of a filter with an assignment, which gets fresh globals. */
  afresh: number;
  /** Messages that a thread returns as it gets them: the upper bound of `inThread`. */
  echoed: number;
  /** Of a filter that needs no thread. */
  simple: number;
  /** Reads of one member by plain JavaScript: the upper bound of `simple`. */
  plain: number;
}

const SECONDS = 4;
const IN_FLIGHT = 64;
const TARGET_BYTES = 2_048;

const check = {
  metadata: { name: 'disk', namespace: 'default', labels: { team: 'ops' } },
  status: 2,
  output: 'CRITICAL: 97 % of /var used',
  interval: 60,
  executed: 1_700_000_000,
  issued: 1_700_000_000,
  handlers: ['mail', 'chat'],
  subscriptions: ['linux', 'web'],
  history: Array.from({ length: 21 }, (_, n) => ({ status: n % 3, executed: 1_700_000_000 + n })),
  occurrences: 3,
};
const entity = {
  entity_class: 'agent',
  metadata: { name: 'web-01', namespace: 'default', labels: { region: 'eu-1' } },
  system: { hostname: 'web-01', os: 'linux', arch: 'amd64', network: { interfaces: [] } },
  subscriptions: ['linux', 'web', 'entity:web-01'],
};
const sent = { timestamp: 1_700_000_000, id: '6f1ed1f2-6b5c-4f1e-9d7b-0f3a0f6f0001', check, entity };

/** An event of about 2 KB. */
function exampleEvent(): Event {
  const event = parseEvent(sent);
  const missing = TARGET_BYTES - JSON.stringify(event).length;
  return parseEvent({ ...sent, check: { ...check, output: check.output + ' '.repeat(Math.max(0, missing)) } });
}

const filter = (expression: string): StoredFilter => ({
  name: 'typical',
  action: 'allow',
  expressions: [expression],
  libraries: [],
});
const IN_ENGINE = filter('event.check.occurrences >= 3 && /^(web|db)-\\d+$/.test(event.entity.name)');
const AFRESH = filter('var isWeb = /^(web|db)-\\d+$/.test(event.entity.name); isWeb && event.check.occurrences >= 3');
const SIMPLE = filter('event.check.occurrences == 3 || event.check.occurrences % (3600 / event.check.interval) == 0');

const silent = (): void => undefined;
const log: Log = { error: silent, warn: silent, info: silent, debug: silent, child: () => log };

/** Runs `once` with several in flight, and returns how many ended per second. */
async function rateOf(once: () => Promise<unknown>): Promise<number> {
  let ended = 0;
  const startedAt = performance.now();
  const run = async (): Promise<void> => {
    while (performance.now() - startedAt < SECONDS * 1_000) {
      await once();
      ended += 1;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, run));
  return ended / ((performance.now() - startedAt) / 1_000);
}

function syncRateOf(once: () => unknown): number {
  let ended = 0;
  const startedAt = performance.now();
  while (performance.now() - startedAt < SECONDS * 250) {
    for (let n = 0; n < 500; n += 1) once();
    ended += 500;
  }
  return ended / ((performance.now() - startedAt) / 1_000);
}

async function inThread(stored: StoredFilter, event: Event): Promise<number> {
  const sandbox = new Sandbox({ clock: systemClock, log, workers: 1 });
  const task = { event: { ...event }, filters: [stored], nowMs: 1_700_000_000_000 };
  const decide = () => sandbox.filter(task, { namespace: 'default', name: 'mail' });
  for (let n = 0; n < 200; n += 1) await decide();
  const rate = await rateOf(decide);
  await sandbox.stop();
  return rate;
}

async function echoed(event: Event): Promise<number> {
  const source =
    "const { parentPort } = require('node:worker_threads'); parentPort.on('message', (m) => parentPort.postMessage(m.id));";
  const worker = new Worker(source, { eval: true });
  const waiting = new Map<number, (value: unknown) => void>();
  worker.on('message', (id: number) => {
    waiting.get(id)?.(id);
    waiting.delete(id);
  });
  let id = 0;
  const rate = await rateOf(() => {
    id += 1;
    const own = id;
    return new Promise((resolve) => {
      waiting.set(own, resolve);
      worker.postMessage({ id: own, event: JSON.stringify(event), filters: [IN_ENGINE], nowMs: 0 });
    });
  });
  await worker.terminate();
  return rate;
}

const event = exampleEvent();
const rates: FilterRates = {
  inThread: await inThread(IN_ENGINE, event),
  afresh: await inThread(AFRESH, event),
  echoed: await echoed(event),
  simple: syncRateOf(() => decideSimply([SIMPLE], event, 0)),
  plain: syncRateOf(() => {
    const { occurrences = 0, interval = 1 } = event.check ?? {};
    return occurrences === 3 || occurrences % (3600 / interval) === 0;
  }),
};
process.send?.(rates, () => process.exit(0));

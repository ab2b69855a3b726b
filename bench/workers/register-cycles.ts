import type * as Keepalives from '../../src/actors/agents/keepalives.ts';
import type * as Merging from '../../src/actors/events/merge-event.ts';
import type * as System from '../../src/actors/system.ts';
import type * as Clocks from '../../src/main/process/system-clock.ts';
import type { Log } from '../../src/ports/log.ts';
import type * as Events from '../../src/resources/event.ts';
import { agentEvent, agentKeepalive } from '../support/agent-events.ts';
import { built } from '../support/built.ts';
import { ObjectStore } from '../support/object-store.ts';

const { ActorSystem } = await built<typeof System>('actors/system');
const { receiveKeepalive } = await built<typeof Keepalives>('actors/agents/keepalives');
const { mergeEvent } = await built<typeof Merging>('actors/events/merge-event');
const { systemClock } = await built<typeof Clocks>('main/process/system-clock');
const events = await built<typeof Events>('resources/event');

export interface CycleLoad {
  cycles: number;
}

export interface CycleResult {
  /** Megabytes of the heap after a garbage collection, before and after the cycles. */
  beforeMb: number;
  afterMb: number;
  perSecond: number;
}

/** Entities that exist at the same time. */
const BATCH = 500;
/** Cycles before the first measurement, in which code is compiled and tables grow. */
const WARM_UP_CYCLES = 20_000;
const BYTES_PER_MB = 1_048_576;

const silent = (): void => undefined;
const log: Log = { error: silent, warn: silent, info: silent, debug: silent, child: () => log };
const system = new ActorSystem({
  store: new ObjectStore(),
  clock: systemClock,
  log,
  backendName: 'bench',
  settings: { entityLimit: 0 },
});
await system.start();
await system.commands.createResource('namespaces', { name: 'default' }, 'bench');

function checkEvent(value: unknown): Events.CheckEvent {
  const event = events.parseEvent(value);
  if (!events.hasCheck(event)) throw new Error('the template has a check');
  return event;
}

/** Registers each entity by a keepalive, arms a check TTL, and deletes the entity with both. */
async function batch(first: number): Promise<void> {
  const names = Array.from({ length: BATCH }, (_, index) => `agent-${first + index}`);
  for (const name of names) {
    system.decider.decide({ cause: { session: 'bench' }, unbounded: true }, (ctx) => {
      receiveKeepalive(ctx, checkEvent(agentKeepalive(name)));
      mergeEvent(ctx, checkEvent(agentEvent(name, 'disk')), { trustsSentHistory: true });
    });
  }
  await Promise.all(names.map((name) => system.commands.deleteEntity('default', name, 'bench')));
}

async function run(from: number, cycles: number): Promise<void> {
  for (let done = 0; done < cycles; done += BATCH) await batch(from + done);
}

function heapMb(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / BYTES_PER_MB;
}

const { cycles } = JSON.parse(process.argv[2] ?? '{}') as CycleLoad;
await run(0, WARM_UP_CYCLES);
const beforeMb = heapMb();
const startedAt = performance.now();
await run(WARM_UP_CYCLES, cycles);
const perSecond = cycles / ((performance.now() - startedAt) / 1_000);
const result: CycleResult = { beforeMb, afterMb: heapMb(), perSecond };
process.send?.(result, () => process.exit(0));

import type * as Addresses from '../../src/resources/actor-address.ts';
import type * as Events from '../../src/resources/event.ts';
import type * as Clocks from '../../src/main/process/system-clock.ts';
import type * as Merging from '../../src/actors/events/merge-event.ts';
import type * as System from '../../src/actors/system.ts';
import type { Log } from '../../src/ports/log.ts';
import type { CheckEvent } from '../../src/resources/event.ts';
import { ObjectStore } from '../support/object-store.ts';
import { agentEvent } from '../support/agent-events.ts';
import { built } from '../support/built.ts';
import { median } from '../support/measured.ts';

const { ActorSystem } = await built<typeof System>('actors/system');
const { mergeEvent } = await built<typeof Merging>('actors/events/merge-event');
const { systemClock } = await built<typeof Clocks>('main/process/system-clock');
const events = await built<typeof Events>('resources/event');
const { parseActorAddresses } = await built<typeof Addresses>('resources/actor-address');

export interface EngineLoad {
  keys: number;
  seconds: number;
}

export interface EngineRates {
  /** Decisions per second without an inspected actor; the median of the rounds. */
  unwatched: number;
  /** CPU of the process for each of these decisions; unlike the rate, it does not depend on what else the machine does. */
  cpuUs: number;
  /** The share of that rate with one inspected actor; the median of the rounds. */
  watchedShare: number;
}

const ROUNDS = 9;
const DECISIONS_PER_SLICE = 1_000;

const silent = (): void => undefined;
const log: Log = { error: silent, warn: silent, info: silent, debug: silent, child: () => log };

const WATCHED = parseActorAddresses(['check-ttl:default/agent-0/check-0']);
const reader = { send: silent, drained: () => Promise.resolve(), fail: silent };

/** Measures merge and check TTL of each event on one core, without decoding and I/O, alternating between no and one inspected actor. */
async function measure({ keys, seconds }: EngineLoad): Promise<EngineRates> {
  const system = new ActorSystem({ store: new ObjectStore(), clock: systemClock, log, backendName: 'bench' });
  await system.start();
  const templates = Array.from({ length: keys }, (_, index) => template(`agent-${index % 1_000}`, `check-${index}`));
  // Events are changed in place and sent again, so that building them is not measured.
  const decideOne = (event: CheckEvent): void => {
    event.check.executed = Math.floor(Date.now() / 1_000);
    event.check.status = Math.random() < 0.01 ? 1 : 0;
    system.decider.decide({ cause: { session: 'bench' }, unbounded: true }, (ctx) => {
      mergeEvent(ctx, event, { trustsSentHistory: true });
    });
  };
  for (const event of templates) decideOne(event);
  await system.probe();
  /** Reslices the duration in milliseconds. */
  const decideSome = (): number => {
    const startedAt = performance.now();
    for (let index = 0; index < DECISIONS_PER_SLICE; index += 1) {
      const event = templates[Math.floor(Math.random() * keys)];
      if (event !== undefined) decideOne(event);
    }
    return performance.now() - startedAt;
  };
  const rounds: { unwatchedMs: number; watchedMs: number; slices: number }[] = [];
  let cpuUs = 0;
  let decisions = 0;
  while (rounds.length < ROUNDS) {
    const round = { unwatchedMs: 0, watchedMs: 0, slices: 0 };
    for (; round.unwatchedMs < (seconds * 1_000) / ROUNDS; round.slices += 1) {
      const before = process.cpuUsage();
      round.unwatchedMs += decideSome();
      const { user, system: kernel } = process.cpuUsage(before);
      cpuUs += user + kernel;
      decisions += DECISIONS_PER_SLICE;
      await system.probe();
      system.inspection.attach(WATCHED, undefined, reader);
      round.watchedMs += decideSome();
      await system.probe();
      system.inspection.stop();
    }
    rounds.push(round);
  }
  await system.stop();
  return {
    cpuUs: cpuUs / decisions,
    unwatched: median(rounds.map(({ unwatchedMs, slices }) => (slices * DECISIONS_PER_SLICE) / (unwatchedMs / 1_000))),
    watchedShare: median(rounds.map(({ unwatchedMs, watchedMs }) => unwatchedMs / watchedMs)),
  };
}

function template(entity: string, check: string): CheckEvent {
  const event = events.parseEvent(agentEvent(entity, check));
  if (!events.hasCheck(event)) throw new Error('the template has a check');
  return event;
}

const rates = await measure(JSON.parse(process.argv[2] ?? '{}') as EngineLoad);
process.send?.(rates, () => process.exit(0));

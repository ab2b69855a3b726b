import type * as Events from '../src/resources/event.ts';
import type * as Clocks from '../src/main/system-clock.ts';
import type * as Merging from '../src/actors/merge-event.ts';
import type * as System from '../src/actors/system.ts';
import type { Log } from '../src/ports/log.ts';
import type { CheckEvent } from '../src/resources/event.ts';
import { ObjectStore } from './object-store.ts';
import { agentEvent } from './agent-events.ts';
import { built } from './built.ts';

const { ActorSystem } = await built<typeof System>('actors/system');
const { mergeEvent } = await built<typeof Merging>('actors/merge-event');
const { systemClock } = await built<typeof Clocks>('main/system-clock');
const events = await built<typeof Events>('resources/event');

export interface EngineLoad {
  keys: number;
  seconds: number;
}

const silent = (): void => undefined;
const log: Log = { error: silent, warn: silent, info: silent, debug: silent, child: () => log };

/** Decisions a second, on one core: merge and dead man's switch of each event, without decoding and without I/O. */
async function measure({ keys, seconds }: EngineLoad): Promise<number> {
  const system = new ActorSystem({ store: new ObjectStore(), clock: systemClock, log, backendName: 'bench' });
  await system.start();
  const templates = Array.from({ length: keys }, (_, index) => template(`agent-${index % 1_000}`, `check-${index}`));
  // An event is changed in place and sent again: making events is not what is measured.
  const decideOne = (event: CheckEvent): void => {
    event.check.executed = Math.floor(Date.now() / 1_000);
    event.check.status = Math.random() < 0.01 ? 1 : 0;
    system.decider.decide({ cause: { session: 'bench' }, unbounded: true }, (scope) => {
      mergeEvent(scope, event, { trustsSentHistory: true });
    });
  };
  for (const event of templates) decideOne(event);
  await system.probe();
  let decided = 0;
  let busyMs = 0;
  while (busyMs < seconds * 1_000) {
    const startedAt = performance.now();
    for (let index = 0; index < 1_000; index += 1) {
      const event = templates[Math.floor(Math.random() * keys)];
      if (event !== undefined) decideOne(event);
    }
    busyMs += performance.now() - startedAt;
    decided += 1_000;
    await system.probe();
  }
  await system.stop();
  return decided / (busyMs / 1_000);
}

function template(entity: string, check: string): CheckEvent {
  const event = events.parseEvent(agentEvent(entity, check));
  if (!events.hasCheck(event)) throw new Error('the template has a check');
  return event;
}

const perSecond = await measure(JSON.parse(process.argv[2] ?? '{}') as EngineLoad);
process.send?.(perSecond, () => process.exit(0));

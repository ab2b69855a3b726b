import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { lastExecuted } from '../../rules/check-history.ts';
import { isOpen } from '../../rules/incident.ts';
import { eventAddress, keyAfter } from '../../store/encoding/keyspace.ts';
import type { EventRecord } from '../../store/records/records.ts';
import { ifIntact } from '../../store/encoding/sealed.ts';
import type { RangeReader } from '../../store/commit/transactional-store.ts';
import { type Decider, internal } from '../core/decider.ts';
import { deleteEvent } from '../events/delete-event.ts';
import { KEEPALIVE } from '../events/merge-event.ts';
import { PacedSteps } from './paced-steps.ts';

/** The time between two steps. A round over 100,000 events takes less than an hour. */
const INTERVAL_MS = 5_000;
/** Events that one step examines. */
const EVENTS_PER_STEP = 200;
/** Above every key. */
const END = '~';

export interface EventRetentionPorts {
  /** Without the events that pending deletions hide. */
  store: RangeReader;
  decider: Pick<Decider, 'decide'>;
  clock: Pick<Clock, 'after' | 'nowMs'>;
  log: Log;
  /** How long an event is kept after its last result, ms; 0 = for ever. */
  retentionMs: number;
}

/** Deletes events of checks that have passed and sent nothing for a long time, such as those of jobs with a name for each run. */
export class EventRetention {
  readonly #ports: EventRetentionPorts;
  readonly #steps: PacedSteps;
  #from = '';

  constructor(ports: EventRetentionPorts) {
    this.#ports = ports;
    this.#steps = new PacedSteps({
      ...ports,
      step: () => this.#step(),
      failure: 'could not delete old events, it is tried again',
      retryMs: INTERVAL_MS,
    });
  }

  start(): void {
    if (this.#ports.retentionMs > 0) this.#steps.start(INTERVAL_MS);
  }

  stop(): void {
    this.#steps.stop();
  }

  async #step(): Promise<number> {
    const { store, decider, clock, retentionMs } = this.#ports;
    const beforeS = (clock.nowMs() - retentionMs) / 1_000;
    const keys = [...store.keys('events', { from: this.#from, to: END, limit: EVENTS_PER_STEP })];
    const last = keys.at(-1);
    const outdated = keys.filter((key) => {
      // A damaged record stays as it is.
      const record = ifIntact(() => store.get('events', key));
      return isOutdated(key, record, beforeS);
    });
    if (outdated.length > 0) {
      await decider.decide(internal('retention.due'), (ctx) => {
        for (const key of outdated) {
          if (isOutdated(key, ctx.get('events', key), beforeS)) deleteEvent(ctx, key, 'event.deleted');
        }
      }).durable;
    }
    this.#from = last === undefined || keys.length < EVENTS_PER_STEP ? '' : keyAfter(last);
    return INTERVAL_MS;
  }
}

/** Whether nothing of an event is worth keeping: it passes, is not silenced, has no check TTL, and its last result is old. One without times is kept. */
function isOutdated(key: string, record: EventRecord | undefined, beforeS: number): boolean {
  if (record === undefined || record.ttl !== undefined || eventAddress(key).check === KEEPALIVE) return false;
  const { history, silenced, state } = record.state;
  if (silenced.length > 0 || isOpen(history.statuses.at(-1) ?? 0, state)) return false;
  const lastS = Math.max(record.event.timestamp, lastExecuted(history));
  return lastS > 0 && lastS < beforeS;
}

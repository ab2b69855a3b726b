import type { Log } from '../../ports/log.ts';
import type { BackendCause } from '../../store/ledger/ledger.ts';
import type { Decider } from '../core/decider.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import type { TickBook } from '../core/tick-book.ts';
import type { SystemListeners } from '../core/system-listeners.ts';
import type { BlindInterval, BlindTime } from '../time/blind-time.ts';
import type { DeadlineQueue } from '../time/deadline-queue.ts';
import type { Supervision } from './supervision.ts';
import { recordBlindInterval, storeBlindTime } from './stored-blind-time.ts';

/** The event that ended a blind interval, as the ledger names it. */
export type BlindEnd = 'process.resumed' | 'readers.resumed' | 'store.recovered';

const CAUSES: Readonly<Record<BlindEnd, BackendCause>> = {
  'process.resumed': 'process.resumed',
  'readers.resumed': 'queues.drained',
  'store.recovered': 'store.probed',
};

export interface BlindRecorderPorts {
  blind: BlindTime;
  deadlineQueue: Pick<DeadlineQueue, 'inputsAtMs' | 'rebuild'>;
  supervision: Pick<Supervision, 'quarantinedInputsAtMs'>;
  decider: Pick<Decider, 'maintain'>;
  listeners: Pick<SystemListeners, 'readsStalled'>;
  ticks: Pick<TickBook, 'note'>;
  backendName: string;
  log: Log;
}

/** Takes in blind intervals that end while the process runs: deadlines move, and the ledger explains why. */
export class BlindRecorder {
  readonly #ports: BlindRecorderPorts;

  constructor(ports: BlindRecorderPorts) {
    this.#ports = ports;
  }

  /** Adds an interval in which sockets could have been read for `unreadMs`, by the monotonic clock. */
  ended(event: BlindEnd, interval: BlindInterval, unreadMs: number): void {
    const { deadlineQueue, decider, listeners, ticks, log } = this.#ports;
    log.warn({ event, blind_ms: interval.endMs - interval.beginMs }, 'backend was blind');
    this.add(interval);
    ticks.note({ event, ...interval });
    deadlineQueue.rebuild();
    listeners.readsStalled(unreadMs);
    decider.maintain(CAUSES[event], (ctx) => {
      this.store(ctx, event, interval);
    });
  }

  /** Adds an interval and drops those that no deadline counts from any more. The deadline queue must be rebuilt after it. */
  add(interval: BlindInterval): void {
    const { blind } = this.#ports;
    blind.add(interval);
    blind.keepFirstAfter(this.#inputsAtMs());
  }

  *#inputsAtMs(): Iterable<number> {
    const { deadlineQueue, supervision } = this.#ports;
    yield* deadlineQueue.inputsAtMs();
    yield* supervision.quarantinedInputsAtMs();
  }

  /** Joins an interval to the last one. The caller must rebuild the deadline queue afterwards. */
  extend(interval: BlindInterval): void {
    this.#ports.blind.extend(interval);
  }

  /** Stores the intervals and writes `interval` to the ledger. */
  store(ctx: DecisionContext, event: BlindEnd, interval: BlindInterval): void {
    const { blind, ticks, backendName } = this.#ports;
    if (event === 'store.recovered') ticks.note({ event, ...interval });
    storeBlindTime(ctx, blind);
    recordBlindInterval(ctx, backendName, event, interval);
  }
}

import type { DeadlineChange, TableReader } from '../store/commit/decision.ts';
import { CorruptRecord } from '../store/encoding/sealed.ts';
import type { ActorKind } from './core/actor-kind.ts';
import type { TickBook } from './core/tick-book.ts';
import type { SILENCE } from './events/silences.ts';
import { storedDeadline } from './stored-deadlines.ts';
import { UNKNOWN_INPUT } from './time/blind-time.ts';
import type { DeadlineQueue } from './time/deadline-queue.ts';

export interface ArmedDeadlinesPorts {
  deadlineQueue: Pick<DeadlineQueue, 'set' | 'drop'>;
  reader: TableReader;
  /** Receives the next tick of each schedule, which would have no outcome if its deadline were lost. */
  ticks: Pick<TickBook, 'scheduled'>;
  /** Wall clock, Unix ms. */
  nowMs(): number;
}

/** Arms deadlines in the queue: those that a decision asks for, and those that follow from a stored record. */
export class ArmedDeadlines {
  readonly #ports: ArmedDeadlinesPorts;

  constructor(ports: ArmedDeadlinesPorts) {
    this.#ports = ports;
  }

  /** Arms, moves or drops the deadline that a decision asks for. */
  arm({ actor, key, atMs, sinceMs, repeat }: DeadlineChange): void {
    const { deadlineQueue } = this.#ports;
    this.#noteTick(actor, key, atMs);
    if (atMs === undefined) deadlineQueue.drop(actor, key);
    else deadlineQueue.set(actor, key, atMs, sinceMs, repeat);
  }

  /** Returns the input that the stored deadline of a key counts from: unknown if its record is damaged, undefined if it has none. */
  storedInputAtMs(actor: ActorKind | typeof SILENCE, key: string): number | undefined {
    const { reader, nowMs } = this.#ports;
    try {
      return storedDeadline(reader, actor, key, nowMs())?.sinceMs;
    } catch (error) {
      if (!(error instanceof CorruptRecord)) throw error;
      return UNKNOWN_INPUT;
    }
  }

  /** Arms the deadline that follows from the stored record of a key, or drops it when there is none. */
  rearm(actor: ActorKind | typeof SILENCE, key: string): void {
    const { deadlineQueue, reader, nowMs } = this.#ports;
    const deadline = storedDeadline(reader, actor, key, nowMs());
    this.#noteTick(actor, key, deadline?.atMs);
    if (deadline === undefined) deadlineQueue.drop(actor, key);
    else deadlineQueue.set(actor, key, deadline.atMs, deadline.sinceMs, deadline.repeat);
  }

  #noteTick(actor: string, key: string, atMs: number | undefined): void {
    if (actor === 'check-schedule') this.#ports.ticks.scheduled(key, atMs);
  }
}

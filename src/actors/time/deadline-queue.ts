import type { Clock } from '../../ports/clock.ts';
import type { Repeat } from '../../store/commit/decision.ts';
import type { BlindTime } from './blind-time.ts';
import { popNode, pushNode } from './min-heap.ts';
import type { SteadyTime } from './steady-time.ts';

/** A deadline that follows from a record: when it is due, without grace, and the input that it counts from. Steady time, ms. */
export interface StoredDeadline {
  atMs: number;
  sinceMs: number;
  repeat?: Repeat | undefined;
}

/** A deadline that has been reached. */
export interface ReachedDeadline {
  actor: string;
  key: string;
  /** The deadline as it was armed, without grace; it identifies the deadline. */
  deadlineAtMs: number;
  /** Now, in steady time, ms. */
  atMs: number;
  /** The input it counts from, in steady time, ms. */
  sinceMs: number;
  /** How much later blind time made it, ms. */
  graceMs: number;
  /** The length of that blind time, ms; 0 when there was none. */
  blindMs: number;
  /** Of a deadline that repeats an earlier one. */
  repeat: Repeat | undefined;
}

/** The `sinceMs` of a deadline that counts from no input: blind time gives it no grace. */
export const NO_INPUT = Infinity;

interface Entry extends Omit<ReachedDeadline, 'atMs'> {
  /** When it fires, in steady time, blind time included. */
  dueAtMs: number;
  /** The time of its valid node in the heap. A deadline moved later than that is queued again when the node comes up. */
  queuedAtMs: number;
  /** Dropped or fired: nodes of it that are left in the heap are ignored. */
  dropped: boolean;
}

interface Node {
  atMs: number;
  entry: Entry;
}

/** The longest delay of a timer, 24.8 days. */
const MAX_TIMER_MS = 2_147_483_647;
/** The heap is not compacted while it has fewer nodes of dropped deadlines than this. */
const MIN_DROPPED_NODES = 1_000;
/** Deadlines that fire in one iteration of the event loop. */
const MAX_FIRED_AT_ONCE = 500;

export interface DeadlineQueuePorts {
  clock: Clock;
  time: SteadyTime;
  blind: BlindTime;
  /** The actors whose deadlines are in wall clock time and follow its steps, instead of in steady time. */
  wallClockActors: ReadonlySet<string>;
}

export interface DeadlineListener {
  /** Called before deadlines fire, with the time at which the timer should have fired; it may add blind time. */
  beforeFiring(dueMs: number): void;
  reached(deadline: ReachedDeadline): void;
}

/**
 * All deadlines of the system, in a heap behind one timer. Moving a deadline later costs a map lookup: its place in the heap is
 * corrected when its old time comes up. A deadline never fires early.
 */
export class DeadlineQueue {
  readonly #ports: DeadlineQueuePorts;
  readonly #entries = new Map<string, Map<string, Entry>>();
  #heap: Node[] = [];
  #droppedNodes = 0;
  #listener: DeadlineListener | undefined;
  #cancelTimer: (() => void) | undefined;
  #timerAtMs = Infinity;
  #running = false;

  constructor(ports: DeadlineQueuePorts) {
    this.#ports = ports;
  }

  /** Sets the listener. It must be set before `start`. */
  setListener(listener: DeadlineListener): void {
    this.#listener = listener;
  }

  /** Arms or moves the deadline of a key. `sinceMs` is the input that it counts from. */
  set(actor: string, key: string, deadlineAtMs: number, sinceMs: number, repeat?: Repeat): void {
    const ofActor = this.#ofActor(actor);
    let entry = ofActor.get(key);
    if (entry === undefined) {
      entry = {
        actor,
        key,
        deadlineAtMs,
        sinceMs,
        repeat,
        graceMs: 0,
        blindMs: 0,
        dueAtMs: 0,
        queuedAtMs: Infinity,
        dropped: false,
      };
      ofActor.set(key, entry);
    } else {
      entry.deadlineAtMs = deadlineAtMs;
      entry.sinceMs = sinceMs;
      entry.repeat = repeat;
    }
    this.#compute(entry);
    if (entry.dueAtMs < entry.queuedAtMs) this.#queue(entry);
  }

  /** Computes when the entry is due, with the blind time and the wall clock as they are now. */
  #compute(entry: Entry): void {
    const { blind, time, wallClockActors } = this.#ports;
    const { actor, deadlineAtMs, sinceMs, repeat } = entry;
    entry.graceMs = blind.graceMs(sinceMs);
    entry.blindMs = blind.lengthMs(sinceMs);
    const nominalAtMs = repeat === undefined || repeat.graceMs === entry.graceMs ? deadlineAtMs : repeat.firstAtMs;
    entry.dueAtMs = nominalAtMs + entry.graceMs - (wallClockActors.has(actor) ? time.wallLeadMs() : 0);
  }

  /** Queues a deadline again that could not be decided, to fire at `atMs`, unless it was armed again meanwhile. */
  retry(reached: ReachedDeadline, atMs: number): void {
    const ofActor = this.#ofActor(reached.actor);
    if (ofActor.has(reached.key)) return;
    const entry = { ...reached, dueAtMs: atMs, queuedAtMs: atMs, dropped: false };
    ofActor.set(reached.key, entry);
    this.#queue(entry);
  }

  /** The armed deadline of a key, without grace. */
  deadlineOf(actor: string, key: string): number | undefined {
    return this.#entries.get(actor)?.get(key)?.deadlineAtMs;
  }

  /** The time until the deadline of a key fires, blind time included, ms; undefined when none is armed. */
  dueInMs(actor: string, key: string): number | undefined {
    const entry = this.#entries.get(actor)?.get(key);
    return entry && entry.dueAtMs - this.#ports.time.nowMs();
  }

  drop(actor: string, key: string): void {
    const ofActor = this.#ofActor(actor);
    const entry = ofActor.get(key);
    if (entry === undefined) return;
    entry.dropped = true;
    ofActor.delete(key);
    this.#droppedNodes += 1;
    if (this.#droppedNodes > MIN_DROPPED_NODES && this.#droppedNodes > this.#heap.length / 2) this.#compact();
  }

  /** Removes the nodes of dropped deadlines, which otherwise stay in the heap until they come up. */
  #compact(): void {
    const kept = this.#heap.filter(({ entry, atMs }) => !entry.dropped && atMs === entry.queuedAtMs);
    this.#heap = [];
    this.#droppedNodes = 0;
    for (const node of kept) pushNode(this.#heap, node);
  }

  /** The number of armed deadlines, by actor. */
  get armed(): Map<string, number> {
    return new Map([...this.#entries].map(([actor, { size }]) => [actor, size]));
  }

  get size(): number {
    let size = 0;
    for (const ofActor of this.#entries.values()) size += ofActor.size;
    return size;
  }

  /** Lets deadlines fire. */
  start(): void {
    this.#running = true;
    this.#arm();
  }

  /** Stops firing. Deadlines that are reached meanwhile fire after the next `start`. */
  stop(): void {
    this.#running = false;
    this.#disarm();
  }

  /** Computes all deadlines again, after blind time was added or the wall clock was set. */
  rebuild(): void {
    this.#disarm();
    this.#heap = [];
    this.#droppedNodes = 0;
    for (const ofActor of this.#entries.values()) {
      for (const entry of ofActor.values()) {
        this.#compute(entry);
        entry.queuedAtMs = entry.dueAtMs;
        pushNode(this.#heap, { atMs: entry.dueAtMs, entry });
      }
    }
    this.#arm();
  }

  /** The inputs that deadlines count from, in steady time, ms. */
  *inputsAtMs(): Iterable<number> {
    for (const ofActor of this.#entries.values()) for (const { sinceMs } of ofActor.values()) yield sinceMs;
  }

  #ofActor(actor: string): Map<string, Entry> {
    let ofActor = this.#entries.get(actor);
    if (ofActor === undefined) {
      ofActor = new Map();
      this.#entries.set(actor, ofActor);
    }
    return ofActor;
  }

  #queue(entry: Entry): void {
    entry.queuedAtMs = entry.dueAtMs;
    pushNode(this.#heap, { atMs: entry.dueAtMs, entry });
    if (entry.dueAtMs < this.#timerAtMs) this.#arm();
  }

  #disarm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#timerAtMs = Infinity;
  }

  #arm(): void {
    const first = this.#heap[0];
    if (!this.#running || first === undefined) return;
    this.#disarm();
    const { clock, time } = this.#ports;
    const nowMs = time.nowMs();
    const delayMs = Math.min(Math.max(first.atMs - nowMs, 0), MAX_TIMER_MS);
    this.#timerAtMs = first.atMs;
    this.#cancelTimer = clock.after(delayMs, () => {
      this.#run(nowMs + delayMs);
    });
  }

  #run(expectedAtMs: number): void {
    this.#disarm();
    this.#listener?.beforeFiring(expectedAtMs);
    const nowMs = this.#ports.time.nowMs();
    for (let fired = 0; fired < MAX_FIRED_AT_ONCE && this.#running; fired += 1) {
      const entry = this.#nextDue(nowMs);
      if (entry === undefined) break;
      const { actor, key, deadlineAtMs, sinceMs, graceMs, blindMs, repeat } = entry;
      this.#listener?.reached({ actor, key, deadlineAtMs, atMs: nowMs, sinceMs, graceMs, blindMs, repeat });
    }
    this.#arm();
  }

  #nextDue(nowMs: number): Entry | undefined {
    for (let first = this.#heap[0]; first !== undefined && first.atMs <= nowMs; first = this.#heap[0]) {
      popNode(this.#heap);
      const { entry, atMs } = first;
      if (entry.dropped || atMs !== entry.queuedAtMs) continue;
      // The wall clock may have been slewed since the deadline was queued.
      if (this.#ports.wallClockActors.has(entry.actor)) this.#compute(entry);
      // It was moved later, perhaps behind others that are due: late deadlines fire in order, too.
      if (entry.dueAtMs > atMs) {
        this.#queue(entry);
        continue;
      }
      // It may have a second node at this time, from having been moved earlier and back.
      entry.dropped = true;
      this.#entries.get(entry.actor)?.delete(entry.key);
      return entry;
    }
    return undefined;
  }
}

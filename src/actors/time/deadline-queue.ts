import type { Clock } from '../../ports/clock.ts';
import type { Repeat } from '../../store/decision.ts';
import type { BlindTime } from './blind-time.ts';
import type { SteadyTime } from './steady-time.ts';

/** When something is due, without grace, and the input it counts from. */
export interface StoredDeadline {
  atMs: number;
  sinceMs: number;
  repeat?: Repeat;
}

/** A deadline that has come. */
export interface ReachedDeadline {
  actor: string;
  key: string;
  /** As it was armed, without grace: its identity. */
  deadlineAtMs: number;
  /** Now, in steady time, ms. */
  atMs: number;
  /** The input it counts from, in steady time, ms. */
  sinceMs: number;
  /** How much blind time moved it. */
  graceMs: number;
  /** How long that blind time was; 0 where there was none. */
  blindMs: number;
}

/** Where a deadline stands that counts from no input: nothing gives it grace. */
export const NO_INPUT = Infinity;

interface Entry {
  actor: string;
  key: string;
  deadlineAtMs: number;
  sinceMs: number;
  repeat: Repeat | undefined;
  graceMs: number;
  blindMs: number;
  /** When it fires, in steady time, blind time included. */
  dueAtMs: number;
  /** Where its node stands in the heap; later than that it is put back when it comes up. */
  queuedAtMs: number;
  /** Dropped or fired: what is left of it in the heap is void. */
  dropped: boolean;
}

interface Node {
  atMs: number;
  entry: Entry;
}

/** Timers hold no more than 24.8 days. */
const MAX_TIMER_MS = 2_147_483_647;
/** Below so many it is not worth looking for nodes of dropped deadlines. */
const MIN_DROPPED_NODES = 1_000;
/** Deadlines that fire in one turn of the event loop. */
const MAX_FIRED_PER_TURN = 500;

export interface DeadlineQueuePorts {
  clock: Clock;
  time: SteadyTime;
  blind: BlindTime;
  /** Whether an actor's deadlines are by the wall clock, whatever becomes of it, instead of in steady time. */
  goesByWallClock(actor: string): boolean;
  /** Called before anything fires, with the moment at which that should have been: it may add blind time. */
  look(dueMs: number): void;
  fire(reached: ReachedDeadline): void;
}

/**
 * All deadlines of the system behind one timer. Moving a deadline later costs a map lookup: its place in the heap is
 * corrected when it comes up. It never fires early.
 */
export class DeadlineQueue {
  readonly #ports: DeadlineQueuePorts;
  readonly #entries = new Map<string, Map<string, Entry>>();
  #heap: Node[] = [];
  #droppedNodes = 0;
  #cancelTimer: (() => void) | undefined;
  #timerAtMs = Infinity;
  #running = false;

  constructor(ports: DeadlineQueuePorts) {
    this.#ports = ports;
  }

  /** Arms or moves the deadline of a key. `sinceMs` is the input it counts from. */
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

  /** When the entry is due, as things stand. */
  #compute(entry: Entry): void {
    const { blind, time, goesByWallClock } = this.#ports;
    const { actor, deadlineAtMs, sinceMs, repeat } = entry;
    entry.graceMs = blind.graceMs(sinceMs);
    entry.blindMs = blind.lengthMs(sinceMs);
    const nominalAtMs = repeat === undefined || repeat.graceMs === entry.graceMs ? deadlineAtMs : repeat.firstAtMs;
    entry.dueAtMs = nominalAtMs + entry.graceMs - (goesByWallClock(actor) ? time.wallLeadMs() : 0);
  }

  /** Puts a deadline back that fired and could not be decided, unless it was armed anew meanwhile. */
  retry({ actor, key, deadlineAtMs, sinceMs, graceMs, blindMs }: ReachedDeadline, atMs: number): void {
    const ofActor = this.#ofActor(actor);
    if (ofActor.has(key)) return;
    const entry = {
      actor,
      key,
      deadlineAtMs,
      sinceMs,
      repeat: undefined,
      graceMs,
      blindMs,
      dueAtMs: atMs,
      queuedAtMs: atMs,
      dropped: false,
    };
    ofActor.set(key, entry);
    this.#queue(entry);
  }

  /** The armed deadline of a key, without grace. */
  deadlineOf(actor: string, key: string): number | undefined {
    return this.#entries.get(actor)?.get(key)?.deadlineAtMs;
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

  /** A dropped deadline keeps its node until it comes up; too many of them go at once. */
  #compact(): void {
    const kept = this.#heap.filter(({ entry, atMs }) => !entry.dropped && atMs === entry.queuedAtMs);
    this.#heap = [];
    this.#droppedNodes = 0;
    for (const node of kept) push(this.#heap, node);
  }

  /** Armed deadlines, by actor. */
  get armed(): Map<string, number> {
    return new Map([...this.#entries].map(([actor, { size }]) => [actor, size]));
  }

  get size(): number {
    let size = 0;
    for (const ofActor of this.#entries.values()) size += ofActor.size;
    return size;
  }

  /** Begins to fire. */
  start(): void {
    this.#running = true;
    this.#arm();
  }

  /** Deadlines that come meanwhile fire after the next `start`. */
  stop(): void {
    this.#running = false;
    this.#disarm();
  }

  /** Computes every moment anew, after blind time was added or the wall clock was set. */
  rebuild(): void {
    this.#disarm();
    this.#heap = [];
    this.#droppedNodes = 0;
    for (const ofActor of this.#entries.values()) {
      for (const entry of ofActor.values()) {
        this.#compute(entry);
        entry.queuedAtMs = entry.dueAtMs;
        push(this.#heap, { atMs: entry.dueAtMs, entry });
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
    push(this.#heap, { atMs: entry.dueAtMs, entry });
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
    this.#ports.look(expectedAtMs);
    const nowMs = this.#ports.time.nowMs();
    for (let fired = 0; fired < MAX_FIRED_PER_TURN && this.#running; fired += 1) {
      const entry = this.#nextDue(nowMs);
      if (entry === undefined) break;
      this.#ports.fire({
        actor: entry.actor,
        key: entry.key,
        deadlineAtMs: entry.deadlineAtMs,
        atMs: nowMs,
        sinceMs: entry.sinceMs,
        graceMs: entry.graceMs,
        blindMs: entry.blindMs,
      });
    }
    this.#arm();
  }

  #nextDue(nowMs: number): Entry | undefined {
    for (let first = this.#heap[0]; first !== undefined && first.atMs <= nowMs; first = this.#heap[0]) {
      pop(this.#heap);
      const { entry, atMs } = first;
      if (entry.dropped || atMs !== entry.queuedAtMs) continue;
      // The wall clock may be behind by what it was slewed since.
      if (this.#ports.goesByWallClock(entry.actor)) this.#compute(entry);
      // Moved later, perhaps behind others that are due: what is late fires in order, too.
      if (entry.dueAtMs > atMs) {
        this.#queue(entry);
        continue;
      }
      // It may have a second node at this very moment, from having been moved earlier and back.
      entry.dropped = true;
      this.#entries.get(entry.actor)?.delete(entry.key);
      return entry;
    }
    return undefined;
  }
}

function push(heap: Node[], node: Node): void {
  let index = heap.length;
  heap.push(node);
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || above.atMs <= node.atMs) break;
    heap[index] = above;
    index = parent;
  }
  heap[index] = node;
}

function pop(heap: Node[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let index = 0;
  for (;;) {
    let child = 2 * index + 1;
    const right = heap[child + 1];
    if (right !== undefined && right.atMs < (heap[child]?.atMs ?? Infinity)) child += 1;
    const below = heap[child];
    if (below === undefined || below.atMs >= last.atMs) break;
    heap[index] = below;
    index = child;
  }
  heap[index] = last;
}

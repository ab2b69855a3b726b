import type { Clock } from '../../src/ports/clock.ts';

interface Alarm {
  dueMs: number;
  /** Order of asking: alarms of one moment fire in it. */
  turn: number;
  fire: () => void;
}

/** Turns of the event loop after each moment: sockets, promises and their followers come to rest. */
const SETTLING_TURNS = 10;

/** A clock that stands still until it is told to go on. */
export class ManualClock implements Clock {
  /** What else must come to rest after each moment, for example writes in flight. */
  untilIdle: () => Promise<void> = () => Promise.resolve();
  readonly #alarms = new Set<Alarm>();
  #wallMs: number;
  #monotonicMs = 0;
  #suspendedMs = 0;
  #turn = 0;

  constructor(startMs: number = Date.now()) {
    this.#wallMs = startMs;
  }

  nowMs(): number {
    return this.#wallMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  uptimeMs(): number {
    return this.#monotonicMs + this.#suspendedMs;
  }

  after(delayMs: number, fire: () => void): () => void {
    this.#turn += 1;
    const alarm = { dueMs: this.#monotonicMs + Math.max(0, delayMs), turn: this.#turn, fire };
    this.#alarms.add(alarm);
    return () => {
      this.#alarms.delete(alarm);
    };
  }

  /** Lets `ms` pass: each alarm fires at its exact time, in order, and what it set off comes to rest before the next. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#monotonicMs + ms;
    await this.settle();
    for (let dueMs = this.#nextDueMs(untilMs); dueMs !== undefined; dueMs = this.#nextDueMs(untilMs)) {
      this.#moveTo(dueMs);
      this.#fireDue();
      await this.settle();
    }
    this.#moveTo(untilMs);
    await this.settle();
  }

  /** The wall clock jumps, as it does when somebody sets it; no time passes. */
  jump(ms: number): void {
    this.#wallMs += ms;
  }

  /** The machine sleeps: alarms do not come nearer. */
  suspend(ms: number): void {
    this.#suspendedMs += ms;
    this.#wallMs += ms;
  }

  /** The process is stopped, then everything that was due meanwhile fires at once, earliest first. */
  async stall(ms: number): Promise<void> {
    this.#moveTo(this.#monotonicMs + ms);
    this.#fireDue();
    await this.settle();
  }

  async settle(): Promise<void> {
    await turnsOfTheLoop();
    await this.untilIdle();
    await turnsOfTheLoop();
  }

  #nextDueMs(untilMs: number): number | undefined {
    let next: number | undefined;
    for (const { dueMs } of this.#alarms) {
      if (dueMs <= untilMs && (next === undefined || dueMs < next)) next = dueMs;
    }
    return next;
  }

  /** With what the alarms themselves set for at once. */
  #fireDue(): void {
    while (this.#nextDueMs(this.#monotonicMs) !== undefined) for (const alarm of this.#takeDue()) alarm.fire();
  }

  /** One of them may cancel another that is due at the same moment: the set is asked again before each. */
  *#takeDue(): Iterable<Alarm> {
    const due = [...this.#alarms].filter(({ dueMs }) => dueMs <= this.#monotonicMs);
    for (const alarm of due.toSorted((a, b) => a.dueMs - b.dueMs || a.turn - b.turn)) {
      if (this.#alarms.delete(alarm)) yield alarm;
    }
  }

  #moveTo(monotonicMs: number): void {
    const passedMs = Math.max(0, monotonicMs - this.#monotonicMs);
    this.#monotonicMs += passedMs;
    this.#wallMs += passedMs;
  }
}

async function turnsOfTheLoop(): Promise<void> {
  for (let turn = 0; turn < SETTLING_TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

import type { Clock } from '../../src/ports/clock.ts';

interface Alarm {
  dueMs: number;
  /** Alarms of the same time fire in this order. */
  position: number;
  fire: () => void;
}

/** Ticks of the event loop after each alarm, in which sockets and promises do their work. */
const SETTLING_TICKS = 10;

/** A clock that advances only when a test calls `advance`. */
export class ManualClock implements Clock {
  /** Resolves when other work is done, for example writes in flight; awaited after each alarm. */
  untilIdle: () => Promise<void> = () => Promise.resolve();
  readonly #alarms = new Set<Alarm>();
  #wallMs: number;
  #monotonicMs = 0;
  #suspendedMs = 0;
  #position = 0;

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
    this.#position += 1;
    const alarm = { dueMs: this.#monotonicMs + Math.max(0, delayMs), position: this.#position, fire };
    this.#alarms.add(alarm);
    return () => {
      this.#alarms.delete(alarm);
    };
  }

  /** Lets `ms` pass. Each alarm fires at its exact time, in order, and its consequences settle before the next one. */
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

  /** The time until the next alarm fires; undefined when none is set. */
  get msToNextAlarm(): number | undefined {
    const dueMs = this.#nextDueMs(Infinity);
    return dueMs === undefined ? undefined : dueMs - this.#monotonicMs;
  }

  /** Drops the alarms of the next `ms`, as a fault of the backend that loses a timer. Returns their number. */
  loseAlarms(ms: number): number {
    const lost = [...this.#alarms].filter(({ dueMs }) => dueMs <= this.#monotonicMs + ms);
    for (const alarm of lost) this.#alarms.delete(alarm);
    return lost.length;
  }

  /** Changes the wall clock, as setting it does. No time passes. */
  jump(ms: number): void {
    this.#wallMs += ms;
  }

  /** Suspends the machine: the wall clock advances, and alarms do not come nearer. */
  suspend(ms: number): void {
    this.#suspendedMs += ms;
    this.#wallMs += ms;
  }

  /** Stops the process for `ms`. Then all alarms that became due fire at once, the earliest first. */
  async stall(ms: number): Promise<void> {
    this.#moveTo(this.#monotonicMs + ms);
    this.#fireDue();
    await this.settle();
  }

  /** Resolves when the consequences of past events have settled. */
  async settle(): Promise<void> {
    await eventLoopTicks();
    await this.untilIdle();
    await eventLoopTicks();
  }

  #nextDueMs(untilMs: number): number | undefined {
    let next: number | undefined;
    for (const { dueMs } of this.#alarms) {
      if (dueMs <= untilMs && (next === undefined || dueMs < next)) next = dueMs;
    }
    return next;
  }

  /** Fires all due alarms, including those that they set for the present time. */
  #fireDue(): void {
    while (this.#nextDueMs(this.#monotonicMs) !== undefined) for (const alarm of this.#takeDue()) alarm.fire();
  }

  /** Yields the due alarms. One of them may cancel a later one, so each is looked up again before it fires. */
  *#takeDue(): Iterable<Alarm> {
    const due = [...this.#alarms].filter(({ dueMs }) => dueMs <= this.#monotonicMs);
    for (const alarm of due.toSorted((a, b) => a.dueMs - b.dueMs || a.position - b.position)) {
      if (this.#alarms.delete(alarm)) yield alarm;
    }
  }

  #moveTo(monotonicMs: number): void {
    const passedMs = Math.max(0, monotonicMs - this.#monotonicMs);
    this.#monotonicMs += passedMs;
    this.#wallMs += passedMs;
  }
}

async function eventLoopTicks(): Promise<void> {
  for (let tick = 0; tick < SETTLING_TICKS; tick += 1) await new Promise((resolve) => setImmediate(resolve));
}

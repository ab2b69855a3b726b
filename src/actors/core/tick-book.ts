import type { TickOutcome } from '../../rules/tick-streaks.ts';
import { ExpectedResults } from './expected-results.ts';

/** The maximum number of unrecorded reasons of failed ticks of one check. Beyond it the oldest are forgotten. */
const MAX_FAILURES = 20;

/**
 * The maximum number of blind intervals that are kept until their record is durable. Beyond it the oldest are
 * forgotten.
 */
const MAX_NOTED = 100;

/** A blind interval in steady time, ms, and what ended it. */
export interface NotedInterval {
  event: string;
  beginMs: number;
  endMs: number;
}

/** A tick that was due and has no outcome. */
export interface MissedTick {
  key: string;
  atMs: number;
}

interface Failure {
  atMs: number;
  reason: string;
}

/**
 * The state of ticks that is kept in memory: when each check is due, which ticks are not decided yet, and which
 * results are expected. Nothing of it survives a restart; the records of ticks show what is missing.
 */
export class TickBook {
  readonly expected = new ExpectedResults();
  /** Ticks of checks by outcome, since the process started. */
  readonly counts: Record<TickOutcome, number> = { ran: 0, skipped: 0, lost: 0 };
  /** Checks with a tick that had no outcome, until a later tick has one. */
  readonly missed = new Set<string>();
  /** Blind intervals of this process, whose record may have been lost with a transaction. */
  readonly noted: NotedInterval[] = [];
  /** When the next tick of each check is due, Unix ms. */
  readonly #next = new Map<string, number>();
  /** The ticks of each check whose outcome is not decided, with the steady time from which it is overdue, ms. */
  readonly #undecided = new Map<string, Map<number, number>>();
  readonly #failures = new Map<string, Failure[]>();

  isScheduled(key: string): boolean {
    return this.#next.has(key);
  }

  /** The backend took no ticks in the interval. */
  note(interval: NotedInterval): void {
    this.noted.push(interval);
    if (this.noted.length > MAX_NOTED) this.noted.shift();
  }

  /** The next tick of a check is armed, or was dropped. Requests of earlier ticks may still be on their way. */
  scheduled(key: string, atMs: number | undefined): void {
    if (atMs !== undefined) {
      this.#next.set(key, atMs);
      return;
    }
    for (const map of [this.#next, this.#failures]) map.delete(key);
    this.missed.delete(key);
  }

  /** A tick asks agents; its outcome follows until `overdueAtMs`, in steady time. */
  begun(key: string, atMs: number, overdueAtMs: number): void {
    const ofCheck = this.#undecided.get(key) ?? new Map<number, number>();
    this.#undecided.set(key, ofCheck.set(atMs, overdueAtMs));
  }

  decided(key: string, atMs: number): void {
    const ofCheck = this.#undecided.get(key);
    if (ofCheck?.delete(atMs) === true && ofCheck.size === 0) this.#undecided.delete(key);
  }

  undecided(key: string): number[] {
    return [...(this.#undecided.get(key)?.keys() ?? [])];
  }

  /** The decision of a tick failed. */
  failed(key: string, atMs: number, reason: string): void {
    this.decided(key, atMs);
    this.#failures.set(key, [...(this.#failures.get(key) ?? []), { atMs, reason }].slice(-MAX_FAILURES));
  }

  failureAt(key: string, atMs: number): string | undefined {
    return this.#failures.get(key)?.find((failure) => failure.atMs === atMs)?.reason;
  }

  /** Every tick until then is recorded. */
  recorded(key: string, untilMs: number): void {
    const failures = this.#failures.get(key);
    if (failures === undefined) return;
    const later = failures.filter(({ atMs }) => atMs >= untilMs);
    if (later.length > 0) this.#failures.set(key, later);
    else this.#failures.delete(key);
  }

  /** Decisions were lost: requests of undecided ticks are not sent, and results may not be stored. */
  storeLost(): void {
    this.#undecided.clear();
    this.expected.storeLost();
  }

  /** Checks whose next tick was due before `wallMs`. */
  *overdue(wallMs: number): Iterable<string> {
    for (const [key, atMs] of this.#next) if (atMs < wallMs) yield key;
  }

  /** Ticks whose outcome was due before `steadyMs`. */
  *overdueOutcomes(steadyMs: number): Iterable<MissedTick> {
    for (const [key, ofCheck] of this.#undecided) {
      for (const [atMs, overdueAtMs] of ofCheck) if (overdueAtMs < steadyMs) yield { key, atMs };
    }
  }
}

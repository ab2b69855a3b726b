import type { LedgerEntry } from '../../src/store/ledger/ledger.ts';
import type { Differences } from './differences.ts';
import { beginMsOf, endMsOf, isOver } from './oracle/silences.ts';
import type { Oracle } from './oracle/oracle.ts';

/** The backend compares its clocks at this interval: afterwards every alarm is set correctly, whatever happened to the clock. */
export const LOOK_INTERVAL_MS = 5_000;
/** The backend does not notice smaller changes of the clock (docs/decisions/0008). */
const MAX_DRIFT_MS = 1_000;
const NAMESPACE = 'default/';

/**
 * Checks when the ledger records the start and the end of each silence: never early, to the millisecond while nothing disturbs
 * the process and its clock, and soon after a disturbance. Which silences act on an event does not depend on these records; the
 * oracle predicts it.
 */
export class SilenceTiming {
  readonly #differences: Differences;
  readonly #oracle: Oracle;
  /** Wall clock time of the last disturbance: a clock change, a stop, a failure or a start. */
  #undisturbedSinceMs = 0;
  #driftMs = 0;
  /** When each silence was written, by name: its end cannot be recorded before. */
  readonly #writtenMs = new Map<string, number>();

  constructor(differences: Differences, oracle: Oracle) {
    this.#differences = differences;
    this.#oracle = oracle;
  }

  /** Reports a disturbance until this wall clock time; Infinity = it still lasts. */
  disturbed(untilMs: number): void {
    this.#undisturbedSinceMs = untilMs;
  }

  clockWasSet(nowMs: number): void {
    this.disturbed(nowMs);
    this.#driftMs = MAX_DRIFT_MS;
  }

  /** Checks the timed entries of a write, and returns the other entries for comparison with the oracle. */
  follow(ledger: readonly LedgerEntry[]): LedgerEntry[] {
    const others: LedgerEntry[] = [];
    for (const entry of ledger) if (!this.#checkTimed(entry)) others.push(entry);
    const { over } = this.#oracle.pending;
    const missing = [...over].filter(([, ends]) => ends.length > 0).map(([name]) => name);
    if (missing.length > 0) this.#differences.add(`the ledger lacks the end of silence ${missing.join(', ')}`);
    return others;
  }

  #checkTimed({ actor, key, event, atMs, details }: LedgerEntry): boolean {
    if (actor !== 'silence' || !key.startsWith(NAMESPACE)) return false;
    const name = key.slice(NAMESPACE.length);
    if (event === 'begin.reached') {
      this.#compareTime(`begin of ${name}`, beginMsOf(Number(details?.['begin'])), atMs);
      this.#oracle.silenceBegan(name, Number(details?.['begin']));
      return true;
    }
    if (event === 'silence.created' || event === 'silence.updated') this.#writtenMs.set(name, atMs);
    const isOfEntity = event === 'entity.deleted' || event === 'entity.deregistered';
    if (event !== 'expiry.reached' && !isOfEntity) return false;
    const expireAtS = this.#oracle.pending.over.get(name)?.shift();
    if (isOfEntity && expireAtS === undefined) return false;
    const end = expireAtS ?? this.#oracle.silenceEnded(name);
    if (end === undefined) this.#differences.add(`silence ${name} ended, but does not exist or has no end`);
    else this.#compareTime(`end of ${name}`, Math.max(endMsOf(end), this.#writtenMs.get(name) ?? 0), atMs);
    return true;
  }

  #compareTime(what: string, dueMs: number, atMs: number): void {
    const since = this.#undisturbedSinceMs;
    const isPunctual =
      dueMs > since + LOOK_INTERVAL_MS
        ? atMs <= dueMs + this.#driftMs
        : atMs <= Math.max(dueMs, since) + LOOK_INTERVAL_MS;
    if (atMs < dueMs || !isPunctual) {
      this.#differences.add(
        `${what} was recorded ${atMs - dueMs} ms after its time, ${atMs - since} ms after the last disturbance`,
      );
    }
  }

  /** Checks that no begin and no end is left to record; called after enough undisturbed time. */
  compareOverdue(nowMs: number): void {
    for (const [name, silence] of this.#oracle.head.silences) {
      const { beginS, state } = silence;
      if (isOver(silence, Math.floor(nowMs / 1_000)))
        this.#differences.add(`the ledger lacks the end of silence ${name}`);
      else if (state === 'pending' && beginMsOf(beginS) <= nowMs) {
        this.#differences.add(`the ledger lacks the start of silence ${name}`);
      }
    }
  }
}

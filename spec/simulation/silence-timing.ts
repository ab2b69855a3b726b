import type { LedgerDraft } from '../../src/store/ledger.ts';
import type { Differences } from './differences.ts';
import { beginMsOf, endMsOf, isOver } from './oracle/silences.ts';
import type { Oracle } from './oracle/oracle.ts';

/** The clock is looked at so often: after that an alarm is where it belongs, whatever happened to the clock. */
export const LOOK_INTERVAL_MS = 5_000;
/** A clock that is set by less is not noticed (docs/decisions/0008). */
const MAX_DRIFT_MS = 1_000;
const NAMESPACE = 'default/';

/**
 * Whether the begin and the end of each silence are put on record when they come: never early, to the millisecond while nothing
 * disturbs the process and its clock, and soon after something did. What acts on an event is the oracle's alone and does not wait for it.
 */
export class SilenceTiming {
  readonly #differences: Differences;
  readonly #oracle: Oracle;
  /** By the wall clock: what was set back, stopped, failed or began is as it should be since. */
  #undisturbedSinceMs = 0;
  #driftMs = 0;
  /** By name, when it was written: before that it could not be put on record that it is over. */
  readonly #writtenMs = new Map<string, number>();

  constructor(differences: Differences, oracle: Oracle) {
    this.#differences = differences;
    this.#oracle = oracle;
  }

  /** Infinity = it is not yet over. */
  disturbed(untilMs: number): void {
    this.#undisturbedSinceMs = untilMs;
  }

  clockWasSet(nowMs: number): void {
    this.disturbed(nowMs);
    this.#driftMs = MAX_DRIFT_MS;
  }

  /** Follows what a write says of their time. The entries that say what somebody did are left to be compared. */
  follow(ledger: readonly LedgerDraft[]): LedgerDraft[] {
    const others: LedgerDraft[] = [];
    for (const entry of ledger) if (!this.#isTimely(entry)) others.push(entry);
    const { over } = this.#oracle.pending;
    const missing = [...over].filter(([, ends]) => ends.length > 0).map(([name]) => name);
    if (missing.length > 0) this.#differences.add(`the end of ${missing.join(', ')} is not on record`);
    return others;
  }

  #isTimely({ actor, key, event, atMs, details }: LedgerDraft): boolean {
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
    if (end === undefined) this.#differences.add(`silence ${name} ended and was not there, or has no end`);
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
      this.#differences.add(`${what} is on record ${atMs - dueMs} ms after it came, ${atMs - since} ms undisturbed`);
    }
  }

  /** When time enough has passed undisturbed: nothing is left to be put on record. */
  compareOverdue(nowMs: number): void {
    for (const [name, silence] of this.#oracle.head.silences) {
      const { beginS, state } = silence;
      if (isOver(silence, Math.floor(nowMs / 1_000))) this.#differences.add(`the end of ${name} is not on record`);
      else if (state === 'pending' && beginMsOf(beginS) <= nowMs) {
        this.#differences.add(`the begin of ${name} is not on record`);
      }
    }
  }
}

import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { LedgerHead } from '../../store/ledger/ledger.ts';
import { CUT_EVENT, cutBefore, LEDGER_ACTOR, LEDGER_CUT_KEY } from '../../store/ledger/ledger-cut.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';
import { type Decider, internal } from '../core/decider.ts';
import type { Settings } from '../core/settings.ts';
import { PacedSteps } from './paced-steps.ts';

/** The time between two checks of the ledger. */
const INTERVAL_MS = 600_000;
/** The time that other writes have between two steps. */
const PAUSE_MS = 20;
/** Entries that one step removes. */
const ENTRIES_PER_STEP = 2_048;
/** The newest entries are kept whatever their age, so that a clock that was set forward does not empty the ledger. */
const MIN_KEPT_ENTRIES = 1_024;
/** Fewer old entries than these are left for the next time, because each cut is an entry itself. */
const MIN_CUT_ENTRIES = 1_024;
/** A cut for the size leaves this part of it. */
const KEPT_PART = 0.9;

export interface LedgerRetentionPorts {
  store: TransactionalStore;
  decider: Pick<Decider, 'decide'>;
  clock: Pick<Clock, 'after' | 'nowMs'>;
  log: Log;
  backendName: string;
  limits: Settings['ledgerLimits'];
}

/** Why entries are removed. */
type Reason = 'age' | 'size';

/**
 * Removes old entries of the ledger. An entry with the hash of the last of them is durable before the first one goes,
 * so that verification can distinguish a cut from a loss. An interrupted cut continues after the next start.
 */
export class LedgerRetention {
  readonly #ports: LedgerRetentionPorts;
  readonly #steps: PacedSteps;

  constructor(ports: LedgerRetentionPorts) {
    this.#ports = ports;
    this.#steps = new PacedSteps({
      ...ports,
      step: () => this.#step(),
      failure: 'could not remove old entries of the ledger, it is tried again',
      retryMs: INTERVAL_MS,
    });
  }

  start(): void {
    this.#steps.start(PAUSE_MS);
  }

  stop(): void {
    this.#steps.stop();
  }

  async #step(): Promise<number> {
    const isDone = (await this.#removeCut()) && !(await this.#decideCut());
    return isDone ? INTERVAL_MS : PAUSE_MS;
  }

  /** Removes the next entries that are cut. Returns whether none of them is left. */
  async #removeCut(): Promise<boolean> {
    const { store } = this.#ports;
    const cut = store.get('meta', LEDGER_CUT_KEY) as LedgerHead | undefined;
    if (cut === undefined || store.ledgerExtent().firstSeq > cut.seq) return true;
    return store.cutLedger(cut.seq, ENTRIES_PER_STEP);
  }

  /** Decides the next cut when enough entries are due. Returns whether there was one. */
  async #decideCut(): Promise<boolean> {
    const { store, decider, log, backendName } = this.#ports;
    const { firstSeq } = store.ledgerExtent();
    const [byAge, bySize] = [this.#lastOldSeq(), this.#lastSurplusSeq()];
    const newest = store.ledgerHead().seq - MIN_KEPT_ENTRIES;
    const throughSeq = cutBefore(Math.min(Math.max(byAge, bySize), newest));
    const reason: Reason = bySize > byAge ? 'size' : 'age';
    if (throughSeq < firstSeq + (reason === 'age' ? MIN_CUT_ENTRIES : 0)) return false;
    const [last] = store.ledgerSlice({ afterSeq: throughSeq - 1, limit: 1 }).entries;
    const [first] = store.ledgerSlice({ afterSeq: firstSeq - 1, limit: 1 }).entries;
    if (last?.seq !== throughSeq || first === undefined) return false;
    const head: LedgerHead = { seq: throughSeq, hash: last.hash };
    const details = {
      throughSeq,
      hash: last.hash,
      firstSeq,
      entries: throughSeq - firstSeq + 1,
      firstAtMs: first.atMs,
      lastAtMs: last.atMs,
      reason,
    };
    await decider.decide(internal('retention.due'), (ctx) => {
      ctx.put('meta', LEDGER_CUT_KEY, head);
      ctx.record({ actor: LEDGER_ACTOR, key: backendName, from: 'stored', event: CUT_EVENT, to: 'stored', details });
    }).durable;
    log.warn(details, 'removing old entries of the ledger');
    return true;
  }

  /** The last entry that is too old; 0 when there is none. */
  #lastOldSeq(): number {
    const { store, clock, limits } = this.#ports;
    if (limits.ageMs === 0) return 0;
    const sinceMs = clock.nowMs() - limits.ageMs;
    let afterSeq: number | undefined = 0;
    while (afterSeq !== undefined) {
      const slice = store.ledgerSlice({ sinceMs, afterSeq, limit: 1 });
      const [kept] = slice.entries;
      if (kept !== undefined) return kept.seq - 1;
      ({ afterSeq } = slice);
    }
    return store.ledgerHead().seq;
  }

  /** The last entry that must go for the size; 0 when there is room. */
  #lastSurplusSeq(): number {
    const { store, limits } = this.#ports;
    const { firstSeq, entries, bytes } = store.ledgerExtent();
    if (limits.bytes === 0 || bytes <= limits.bytes) return 0;
    return firstSeq + Math.ceil(entries * (1 - (KEPT_PART * limits.bytes) / bytes));
  }
}

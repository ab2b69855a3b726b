import { type Announcement, type Decision, emptyPuts, type Source } from './decision.ts';
import type { LedgerDraft } from '../ledger/ledger.ts';
import type { TableName, Tables } from '../records/records.ts';
import { OutcomeCounts, Tally } from './tally.ts';

/** Decisions that wait for one transaction. */
export class Batch {
  readonly puts = emptyPuts();
  readonly ledger: LedgerDraft[] = [];
  readonly announcements: Announcement[] = [];
  /** The sources of inputs in this batch, each with the highest number to acknowledge. */
  readonly sources = new Map<Source, number | undefined>();
  /** The keys of events of which no state was kept in memory, so that they may be new. */
  readonly possiblyNewEvents = new Set<string>();
  readonly tally = new Tally();
  readonly outcomes = new OutcomeCounts();
  readonly durable: Promise<void>;
  decisions = 0;
  #resolve!: () => void;
  #reject!: (error: Error) => void;

  constructor() {
    this.durable = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Not every caller waits for this promise; sources are notified through `lost`.
    this.durable.catch(() => undefined);
  }

  /** Returns the value that this batch writes: `null` = deleted, undefined = unchanged. */
  lookUp<T extends TableName>(table: T, key: string): Tables[T] | null | undefined {
    const puts = this.puts[table];
    return puts.size === 0 ? undefined : puts.get(key);
  }

  /** Applies what this batch does to a set of keys that begin with `prefix`. */
  overlayKeys(table: TableName, prefix: string, keys: Set<string>): void {
    for (const [key, value] of this.puts[table]) {
      if (!key.startsWith(prefix)) continue;
      if (value === null) keys.delete(key);
      else keys.add(key);
    }
  }

  join(decision: Decision): void {
    this.decisions += 1;
    for (const { table, key, value } of decision.puts) (this.puts[table] as Map<string, unknown>).set(key, value);
    for (const draft of decision.ledger) this.ledger.push(draft);
    for (const announcement of decision.announcements) this.announcements.push(announcement);
    const { source, acknowledge, tally } = decision;
    this.tally.add(tally);
    if (tally.outcomes !== undefined) for (const outcome of tally.outcomes) this.outcomes.add(outcome);
    if (source === undefined) return;
    const highest = this.sources.get(source);
    this.sources.set(source, acknowledge === undefined ? highest : Math.max(acknowledge, highest ?? 0));
  }

  settle(): void {
    for (const [source, n] of this.sources) if (n !== undefined) source.acknowledged(n);
    this.#resolve();
  }

  lose(error: Error): void {
    for (const source of this.sources.keys()) source.inputsLost(error);
    this.#reject(error);
  }
}

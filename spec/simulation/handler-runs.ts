import type { HandleEvent } from '../../src/pipeline/workflow-run.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Outcome, OutboxEntry } from '../../src/store/records/records.ts';
import type { WriteSet } from '../../src/store/commit/transactional-store.ts';
import type { Differences } from './differences.ts';

interface HandledEntry {
  entry: string;
  /** Numbers of the backend processes that ran its handler. */
  processes: number[];
}

/**
 * Checks that a handler runs at least once for each outbox entry, with the same id, only after the entry is durable, and in the order
 * of its entries of one event key.
 */
export class HandlerRuns {
  readonly #differences: Differences;
  readonly #durationMs: () => number;
  readonly #handled = new Map<string, HandledEntry>();
  /** Entries on the disk, by their outbox key. */
  readonly #durable = new Map<string, OutboxEntry>();
  /** Ids of entries whose handler did not exist at some time: the backend may skip them. */
  readonly #skippable = new Set<string>();
  #process = 0;

  constructor(differences: Differences, durationMs: () => number) {
    this.#differences = differences;
    this.#durationMs = durationMs;
  }

  get runs(): number {
    return [...this.#handled.values()].reduce((sum, { processes }) => sum + processes.length, 0);
  }

  /** Number of entries in the outbox. */
  get waiting(): number {
    return this.#durable.size;
  }

  processStarted(): void {
    this.#process += 1;
  }

  /** Returns what replaces real handlers: it waits for the planned time and succeeds. */
  handleWith(clock: Clock): HandleEvent {
    return async (handler, _input, entry) => {
      this.#started(entry);
      const durationMs = this.#durationMs();
      if (durationMs > 0) await new Promise<void>((resolve) => void clock.after(durationMs, resolve));
      return { outcome: 'handled', reason: handler.metadata.name ?? '', status: 0 };
    };
  }

  #started(entry: OutboxEntry): void {
    const { notificationId: id, handler, key } = entry;
    const outbox = [...this.#durable].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, other]) => other);
    const first = outbox.find((other) => other.key === key && other.handler === handler);
    if (first?.notificationId !== id) {
      this.#differences.add(`${handler} ran notification ${id} of ${key}, but ${first?.notificationId} is first`);
    }
    const text = JSON.stringify([handler, key, entry.event.check?.status, entry.event.check?.executed]);
    const known = this.#handled.get(id) ?? { entry: text, processes: [] };
    if (known.entry !== text) this.#differences.add(`notification ${id} was ${known.entry}, now it is ${text}`);
    if (known.processes.includes(this.#process))
      this.#differences.add(`${handler} ran notification ${id} twice without a crash`);
    this.#handled.set(id, { ...known, processes: [...known.processes, this.#process] });
  }

  /** Follows a write that has become durable. */
  committed({ puts }: WriteSet, handlerExists: (name: string) => boolean): void {
    for (const [key, entry] of puts.outbox) {
      if (entry === null) this.#settled(key, puts);
      else this.#durable.set(key, entry);
    }
    for (const { handler, notificationId } of this.#durable.values()) {
      if (!handlerExists(handler)) this.#skippable.add(notificationId);
    }
  }

  #settled(outboxKey: string, puts: WriteSet['puts']): void {
    const entry = this.#durable.get(outboxKey);
    this.#durable.delete(outboxKey);
    if (entry === undefined) {
      this.#differences.add(`outbox entry ${outboxKey} was deleted but did not exist`);
      return;
    }
    const { notificationId: id, handler } = entry;
    const outcome = outcomeOf(entry, puts);
    if (outcome === undefined)
      this.#differences.add(`outbox entry of notification ${id} was deleted without an outcome`);
    if (this.#handled.has(id)) return;
    if (outcome !== 'skipped' || !this.#skippable.has(id))
      this.#differences.add(`${handler} never ran notification ${id}`);
  }
}

/** The outcome of an entry, in the transaction that removes it. A repeated outcome without a run is only counted. */
function outcomeOf({ notificationId: id, handler, key }: OutboxEntry, puts: WriteSet['puts']): Outcome | undefined {
  const recorded = [...puts.notificationLog.values()].find((notification) => notification?.id === id);
  if (recorded !== undefined) return recorded?.outcome;
  const known = puts.events.get(key)?.streaks;
  const streaks = (known === 'apart' ? undefined : known) ?? puts.openStreaks.get(key) ?? [];
  return streaks.find((streak) => streak.handler === handler && streak.count > 1)?.outcome;
}

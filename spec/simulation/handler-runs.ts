import type { PipelinePorts } from '../../src/pipeline/pipeline.ts';
import type { OutboxEntry } from '../../src/store/records.ts';
import type { WriteSet } from '../../src/store/transactional-store.ts';
import type { Differences } from './differences.ts';

type Run = PipelinePorts['run'];

interface Handled {
  entry: string;
  /** The processes that ran it. */
  by: number[];
}

/** What the handlers were asked: at least once for each entry of the outbox, with the same id, in order, and only after it was durable. */
export class HandlerRuns {
  readonly #differences: Differences;
  readonly #durationMs: () => number;
  readonly #handled = new Map<string, Handled>();
  /** Entries that are on disk, by their key in the outbox. */
  readonly #durable = new Map<string, OutboxEntry>();
  /** Those that have been there without their handler: they may have been skipped. */
  readonly #skippable = new Set<string>();
  #process = 0;

  constructor(differences: Differences, durationMs: () => number) {
    this.#differences = differences;
    this.#durationMs = durationMs;
  }

  get runs(): number {
    return [...this.#handled.values()].reduce((sum, { by }) => sum + by.length, 0);
  }

  get waiting(): number {
    return this.#durable.size;
  }

  processStarted(): void {
    this.#process += 1;
  }

  /** In place of a real handler: takes its time and is done. */
  readonly run: Run = async (handler, entry, clock) => {
    this.#asked(entry);
    const durationMs = this.#durationMs();
    if (durationMs > 0) await new Promise<void>((resolve) => void clock.after(durationMs, resolve));
    return { outcome: 'handled', reason: handler.metadata.name ?? '', status: 0 };
  };

  #asked(entry: OutboxEntry): void {
    const { notificationId: id, handler, key } = entry;
    const line = [...this.#durable].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, other]) => other);
    const first = line.find((other) => other.key === key);
    if (first?.notificationId !== id) {
      this.#differences.add(`${handler} was asked for ${key} by ${id}, but ${first?.notificationId} is first`);
    }
    const text = JSON.stringify([handler, key, entry.event.check?.status, entry.event.check?.executed]);
    const known = this.#handled.get(id) ?? { entry: text, by: [] };
    if (known.entry !== text) this.#differences.add(`${id} was ${known.entry}, now it is ${text}`);
    if (known.by.includes(this.#process)) this.#differences.add(`${handler} was asked twice by ${id} without a crash`);
    this.#handled.set(id, { ...known, by: [...known.by, this.#process] });
  }

  /** A write has become durable. */
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
      this.#differences.add(`entry ${outboxKey} was taken out of the outbox and is not in it`);
      return;
    }
    const { notificationId: id, handler, key } = entry;
    const outcome = puts.notifications.get(key)?.find((notification) => notification.id === id)?.outcome;
    if (outcome === undefined) this.#differences.add(`what became of ${id} is not stored with its end`);
    if (this.#handled.has(id)) return;
    if (outcome !== 'skipped' || !this.#skippable.has(id)) this.#differences.add(`${handler} was never asked by ${id}`);
  }
}

import { setImmediate as nextTick } from 'node:timers/promises';
import type { ActorSystem } from '../../actors/system.ts';
import { removeDamagedEntry } from '../../actors/supervision/damaged-outbox.ts';
import { SkippedHandlers } from '../../pipeline/skipped-handlers.ts';
import { Pipeline, type PipelinePorts } from '../../pipeline/pipeline.ts';
import { handlerDelivery } from '../../resources/handler-delivery.ts';
import { keyAfter } from '../../store/encoding/keyspace.ts';
import { ifIntact } from '../../store/encoding/sealed.ts';
import { readResource } from '../../store/resource-store.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';
import { OutboxQuarantine } from './outbox-quarantine.ts';

/** Above every key. */
const END = '~';
/** The entries, and the size of their events, that are read in one tick of the event loop. */
const MAX_ENTRIES_PER_TURN = 500;
const MAX_BYTES_PER_TURN = 4 * 1024 * 1024;

export type StartPipelinePorts = Pick<
  PipelinePorts,
  'clock' | 'log' | 'random' | 'run' | 'handlerRetryForMs' | 'maxRunning' | 'patienceMs'
> & {
  backendName: string;
  /** Where the bytes of damaged entries are written. */
  quarantineDirectory: string;
};

export interface StartedPipeline {
  pipeline: Pipeline;
  /** Resolves when the entries that were stored before the start have been scheduled. */
  loaded: Promise<void>;
  quarantine: OutboxQuarantine;
}

/** Starts handling the entries of the outbox: the stored ones in slices, and then new ones. */
export function startPipeline(
  system: ActorSystem,
  store: TransactionalStore,
  ports: StartPipelinePorts,
): StartedPipeline {
  const { clock, log, backendName, quarantineDirectory } = ports;
  const quarantine = new OutboxQuarantine({
    read: (outboxKey) => store.get('outbox', outboxKey),
    remove: (entry) => removeDamagedEntry(system.decider, backendName, entry),
    directory: quarantineDirectory,
    log,
  });
  const pipeline = new Pipeline({
    ...ports,
    entry: (outboxKey) => quarantine.entry(outboxKey),
    delivery(namespace, name) {
      // A run reads the handler again, and says when it is damaged.
      const handler = ifIntact(() => readResource(store, 'handlers', namespace, name));
      return handler && { type: handler.type, ...handlerDelivery(handler.metadata) };
    },
    attempted: (outboxKey, attempts) => system.noteAttempts(outboxKey, attempts),
    done: (outboxKey, key, notification, entry) => system.settleNotification(outboxKey, key, notification, entry),
  });
  system.setOutbox(pipeline);
  const loader = new OutboxLoader(store, pipeline, quarantine);
  const skipped = new SkippedHandlers(log);
  system.listen({
    announced: (announcement) => {
      if (announcement.type === 'outbox.filled' && !loader.covers(announcement.outboxKey)) pipeline.add(announcement);
      if (announcement.type === 'handler.skipped') skipped.note(announcement, clock.nowMs());
      if (announcement.type === 'namespace.deleted') pipeline.dropNamespace(announcement.namespace);
    },
  });
  return { pipeline, loaded: loader.load(), quarantine };
}

/** Adds the stored entries to the pipeline without parsing their events. Entries that are stored meanwhile follow in order. */
class OutboxLoader {
  readonly #store: TransactionalStore;
  readonly #pipeline: Pipeline;
  readonly #quarantine: OutboxQuarantine;
  /** Undefined before the first entry. */
  #lastKey = '';
  #isLoaded = false;

  constructor(store: TransactionalStore, pipeline: Pipeline, quarantine: OutboxQuarantine) {
    this.#store = store;
    this.#pipeline = pipeline;
    this.#quarantine = quarantine;
  }

  /** Whether the entry was added, or will be: an announced entry is already in the store. */
  covers(outboxKey: string): boolean {
    return !this.#isLoaded || outboxKey <= this.#lastKey;
  }

  async load(): Promise<void> {
    while (this.#readSlice() && !this.#pipeline.isStopped) await nextTick();
    this.#isLoaded = true;
  }

  /** Returns whether there may be more entries. */
  #readSlice(): boolean {
    let [entries, sliceBytes] = [0, 0];
    const from = this.#lastKey === '' ? '' : keyAfter(this.#lastKey);
    for (const outboxKey of this.#store.keys('outbox', { from, to: END })) {
      this.#lastKey = outboxKey;
      const entry = this.#quarantine.entry(outboxKey);
      const bytes = entry?.eventBytes ?? 0;
      if (entry !== undefined) {
        const { key, namespace, handler } = entry;
        const attempts = ifIntact(() => this.#store.get('attempts', outboxKey));
        this.#pipeline.add({ outboxKey, key, namespace, handler, bytes, ...attempts });
      }
      entries += 1;
      sliceBytes += bytes;
      if (entries >= MAX_ENTRIES_PER_TURN || sliceBytes >= MAX_BYTES_PER_TURN) return true;
    }
    return false;
  }
}

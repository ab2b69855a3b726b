import type { DamagedEntry } from '../../actors/supervision/damaged-outbox.ts';
import type { Log } from '../../ports/log.ts';
import { CorruptRecord } from '../../store/encoding/sealed.ts';
import { QuarantineDirectory, QuarantineFull } from '../../store/maintenance/quarantine-directory.ts';
import type { OutboxEntry } from '../../store/records/records.ts';

export interface OutboxQuarantinePorts {
  /** The entry with this outbox key. @throws CorruptRecord */
  read(outboxKey: string): OutboxEntry | undefined;
  /** Removes the entry from the outbox and records that. Resolves when that is durable. */
  remove(entry: DamagedEntry): Promise<void>;
  /** Where the bytes of damaged entries are written. */
  directory: string;
  log: Log;
}

/** Reads the outbox, and sets damaged entries aside, so that they do not keep the others from being handled. */
export class OutboxQuarantine {
  /** The entries that were found to be damaged since the start. */
  found = 0;
  readonly #ports: OutboxQuarantinePorts;
  readonly #directory: QuarantineDirectory;
  readonly #damaged = new Set<string>();
  #isFull = false;
  /** Entries are set aside one after the other. */
  #last: Promise<void> = Promise.resolve();

  constructor(ports: OutboxQuarantinePorts) {
    this.#ports = ports;
    this.#directory = new QuarantineDirectory(ports.directory);
  }

  /** Returns undefined for an entry that does not exist or is damaged. */
  entry(outboxKey: string): OutboxEntry | undefined {
    try {
      return this.#ports.read(outboxKey);
    } catch (error) {
      if (!(error instanceof CorruptRecord)) throw error;
      this.#setAside(outboxKey, error);
      return undefined;
    }
  }

  /** Resolves when the damaged entries that were found are set aside. */
  async settled(): Promise<void> {
    await this.#last;
  }

  #setAside(outboxKey: string, error: CorruptRecord): void {
    if (this.#damaged.has(outboxKey)) return;
    this.#damaged.add(outboxKey);
    this.found += 1;
    this.#last = this.#last.then(() => this.#remove(outboxKey, error));
  }

  /** An entry that cannot be set aside stays in the store, and is found again at the next start. */
  async #remove(outboxKey: string, error: CorruptRecord): Promise<void> {
    const { remove, log } = this.#ports;
    const { bytes = Buffer.alloc(0), message } = error;
    if (this.#isFull) return;
    try {
      const file = await this.#directory.write(`outbox-${outboxKey}`, bytes);
      await remove({ outboxKey, error: message, file, bytes: bytes.length });
      log.error({ err: error, outboxKey, file }, 'an event is not handled, because its entry in the outbox is damaged');
    } catch (err) {
      this.#isFull = err instanceof QuarantineFull;
      log.error({ err, cause: error, outboxKey }, 'an entry of the outbox is damaged and cannot be set aside');
    }
  }
}

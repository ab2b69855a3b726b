import { mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { DamagedEntry } from '../../actors/supervision/damaged-outbox.ts';
import type { Log } from '../../ports/log.ts';
import { CorruptRecord } from '../../store/encoding/sealed.ts';
import { DIRECTORY_MODE, FILE_MODE, flush } from '../../store/maintenance/durable-files.ts';
import type { OutboxEntry } from '../../store/records/records.ts';

/** Files of damaged entries. Further entries stay in the store, where they are not handled. */
const MAX_FILES = 1_000;

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
  readonly #damaged = new Set<string>();
  /** The number of files; undefined before the first is written. */
  #files: number | undefined;
  #isFull = false;
  /** Entries are set aside one after the other. */
  #last: Promise<void> = Promise.resolve();

  constructor(ports: OutboxQuarantinePorts) {
    this.#ports = ports;
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
      const file = await this.#write(outboxKey, bytes);
      await remove({ outboxKey, error: message, file, bytes: bytes.length });
      log.error({ err: error, outboxKey, file }, 'an event is not handled, because its entry in the outbox is damaged');
    } catch (err) {
      log.error({ err, cause: error, outboxKey }, 'an entry of the outbox is damaged and cannot be set aside');
    }
  }

  /** Returns the path of the file. @throws Error when there are too many, which is logged once, or it cannot be written */
  async #write(outboxKey: string, bytes: Buffer): Promise<string> {
    const { directory } = this.#ports;
    await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE });
    this.#files ??= (await readdir(directory)).length;
    if (this.#files >= MAX_FILES) {
      this.#isFull = true;
      throw new Error(`${directory} has ${this.#files} files, so that damaged entries stay in the store`);
    }
    this.#files += 1;
    const path = join(directory, `outbox-${outboxKey}`);
    const file = await open(path, 'w', FILE_MODE);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    flush(directory);
    return path;
  }
}

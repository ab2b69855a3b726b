import { type FileHandle, open } from 'node:fs/promises';
import type { LogFileConfig } from '../../config/flags/log-file-flags.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { RotatedFiles } from './rotated-files.ts';

const APPENDING = 'a';
const MODE = 0o640;
/** Lines that wait for a slow disk. Newer lines are dropped above it. */
const MAX_UNWRITTEN_BYTES = 8 * 1024 * 1024;
/** The shortest time between two lines about a log file that cannot be written. */
const COMPLAINT_INTERVAL_MS = 60_000;

export interface LogFilePorts {
  clock: Clock;
  /** The log on standard error, for problems with the file itself. */
  log: Log;
}

/** The file cannot be opened; the message has the reason of the system. */
export class LogFileUnavailable extends Error {
  readonly code = 'log-file-unavailable';

  constructor(file: string, error: unknown) {
    // The message of the system repeats the path.
    super(`cannot open ${file}: ${(error as Error).message.replace(`, open '${file}'`, '')}`);
  }
}

/**
 * Appends the lines of a log to a file, and rotates it before it grows above its limit. Lines that the disk does not accept are
 * dropped and counted: a full disk never stops the program.
 */
export class LogFile {
  readonly #config: LogFileConfig;
  readonly #ports: LogFilePorts;
  readonly #rotated: RotatedFiles;
  #handle: FileHandle | undefined;
  #bytes = 0;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #dropped = 0;
  #complainedAtMs = -COMPLAINT_INTERVAL_MS;
  /** Resolves after the last operation on the file. Operations run one after the other. */
  #idle: Promise<void> = Promise.resolve();
  #isFlushing = false;
  #tidying: 'no' | 'yes' | 'and-again' = 'no';
  #cancelReaper: () => void = () => undefined;

  private constructor(config: LogFileConfig, ports: LogFilePorts) {
    this.#config = config;
    this.#ports = ports;
    this.#rotated = new RotatedFiles(config.file, config);
  }

  /** @throws LogFileUnavailable */
  static async open(config: LogFileConfig, ports: LogFilePorts): Promise<LogFile> {
    const logFile = new LogFile(config, ports);
    try {
      await logFile.#open();
    } catch (error) {
      throw new LogFileUnavailable(config.file, error);
    }
    logFile.#reap();
    return logFile;
  }

  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (this.#waitingBytes + bytes > MAX_UNWRITTEN_BYTES) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(line);
    this.#waitingBytes += bytes;
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    void this.#then(() => this.#flush());
  }

  /** Calls back when all lines are written. */
  flush(done: () => void): void {
    void this.#then(() => this.#flush()).then(done);
  }

  /** Opens the file again, because it may have been renamed. */
  reopen(): Promise<void> {
    return this.#then(async () => {
      await this.#flush();
      await this.#close();
      await this.#open();
    });
  }

  /** Resolves when everything is written and the file is closed. */
  async stop(): Promise<void> {
    this.#cancelReaper();
    await this.#then(async () => {
      await this.#flush();
      await this.#close();
    });
  }

  #then(run: () => Promise<void>): Promise<void> {
    this.#idle = this.#idle.then(run).catch((error: unknown) => {
      this.#complain(error);
    });
    return this.#idle;
  }

  async #flush(): Promise<void> {
    this.#isFlushing = false;
    while (this.#waiting.length > 0) {
      const lines = this.#takeUpTo(this.#config.maxBytes);
      const text = lines.join('');
      try {
        await this.#makeRoom(Buffer.byteLength(text));
        const handle = this.#handle ?? (await this.#open());
        await handle.appendFile(text);
        this.#bytes += Buffer.byteLength(text);
      } catch (error) {
        this.#dropped += lines.length;
        await this.#close();
        throw error;
      }
    }
    if (this.#dropped > 0) this.#reportDropped();
  }

  /** Takes the first waiting lines, at least one, and as many as fit into `bytes`. */
  #takeUpTo(bytes: number): string[] {
    let taken = 0;
    let size = 0;
    for (const line of this.#waiting) {
      const length = Buffer.byteLength(line);
      if (bytes > 0 && taken > 0 && size + length > bytes) break;
      taken += 1;
      size += length;
    }
    this.#waitingBytes -= size;
    return this.#waiting.splice(0, taken);
  }

  async #makeRoom(bytes: number): Promise<void> {
    const { maxBytes } = this.#config;
    if (maxBytes === 0 || this.#bytes === 0 || this.#bytes + bytes <= maxBytes) return;
    await this.#close();
    try {
      if (await this.#rotated.rotate(this.#ports.clock.nowMs())) this.#tidy();
    } catch (error) {
      // A file that cannot be renamed is better than no log.
      this.#complain(error);
    }
  }

  async #open(): Promise<FileHandle> {
    const handle = await open(this.#config.file, APPENDING, MODE);
    this.#bytes = (await handle.stat()).size;
    this.#handle = handle;
    return handle;
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }

  #reap(): void {
    this.#tidy();
    this.#cancelReaper = this.#ports.clock.after(this.#config.reaperIntervalMs, () => {
      this.#reap();
    });
  }

  /** Compresses and removes rotated files beside the writing, one run at a time. */
  #tidy(): void {
    if (this.#tidying !== 'no') {
      this.#tidying = 'and-again';
      return;
    }
    this.#tidying = 'yes';
    this.#rotated
      .tidy(this.#ports.clock.nowMs())
      .catch((error: unknown) => {
        this.#complain(error);
      })
      .finally(() => {
        const isDue = this.#tidying === 'and-again';
        this.#tidying = 'no';
        if (isDue) this.#tidy();
      });
  }

  #reportDropped(): void {
    const fields = { file: this.#config.file, lines: this.#dropped };
    this.#dropped = 0;
    this.#ports.log.error(fields, 'lines of the log were lost');
  }

  #complain(err: unknown): void {
    const nowMs = this.#ports.clock.monotonicMs();
    if (nowMs - this.#complainedAtMs < COMPLAINT_INTERVAL_MS) return;
    this.#complainedAtMs = nowMs;
    this.#ports.log.error({ err, file: this.#config.file }, 'log file cannot be written or rotated');
  }
}

import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { SystemListener } from '../../actors/core/system-listeners.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { QueueStats } from '../../ports/queue-stats.ts';
import type { Event } from '../../resources/event.ts';
import { redactEvent } from '../../resources/redaction.ts';
import type { Announcement } from '../../store/commit/decision.ts';
import { stringifyExactly } from '../../wire/exact-json.ts';
import { EventRing } from './event-ring.ts';

/** Opens a pipe without blocking. Events that a pipe without a reader does not accept are lost. */
const APPENDING = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;
const MODE = 0o644;
/** Events that are encoded and written together, so that other work can run between two writes. */
const EVENTS_PER_WRITE = 100;
const SYNC_INTERVAL_MS = 30_000;
/** The time between two attempts to open the file while events wait. */
const OPEN_INTERVAL_MS = 1_000;
/** The time between two log lines about lost events. */
const LOSS_INTERVAL_MS = 1_000;

export interface EventLogPorts {
  file: string;
  /** The maximum number of events that wait to be written. Beyond it the oldest are dropped and counted. */
  maxBuffered: number;
  clock: Clock;
  log: Log;
}

/**
 * Appends every durable event to a file as one line of redacted JSON. Nothing waits for the file: events that cannot be written
 * are dropped and counted, and the loss is logged.
 */
export class EventLog implements SystemListener {
  readonly #ports: EventLogPorts;
  readonly #waiting: EventRing;
  /** Undefined while the file cannot be opened. */
  #file: FileHandle | undefined;
  /** The error of the last failed attempt to open the file, and the monotonic time of the last attempt. */
  #openError: Error | undefined;
  #openTriedAtMs = 0;
  /** Resolves after the last operation on the file. Operations run one after the other. */
  #idle: Promise<void>;
  #isWriting = false;
  /** Whether a write failed, so that the last line may be incomplete. */
  #isTorn = false;
  #cancelSync: (() => void) | undefined;
  /** Events lost since the last log line about losses, and since the start. */
  #lost = 0;
  #lostTotal = 0;
  /** The reason of the last loss. */
  #lossReason: Error | undefined;
  #cancelReport: (() => void) | undefined;

  /** Starts to open the file. */
  constructor(ports: EventLogPorts) {
    this.#ports = ports;
    this.#waiting = new EventRing(ports.maxBuffered);
    this.#idle = this.#open();
  }

  /** Stats of the waiting events. Events that could not be written count as dropped, too. */
  get waiting(): QueueStats {
    return { used: this.#waiting.size, limit: this.#ports.maxBuffered, dropped: this.#lostTotal };
  }

  announced(announcement: Announcement): void {
    if (announcement.type !== 'event.processed') return;
    if (!this.#waiting.push(announcement.event)) this.#lose(1, new Error('the event buffer is full'));
    this.#write();
  }

  /** Writes the waiting events, then opens the file again, because it may have been renamed. */
  reopen(): Promise<void> {
    return this.#then(async () => {
      await this.#flush();
      await this.#close();
      await this.#open();
    });
  }

  /** Resolves when everything is written and the file is closed. */
  async stop(): Promise<void> {
    await this.#then(async () => {
      await this.#flush();
      await this.#close();
    });
    this.#cancelSync?.();
    this.#cancelReport?.();
    if (this.#lost > 0) this.#reportLoss();
  }

  #write(): void {
    if (this.#isWriting) return;
    this.#isWriting = true;
    void this.#then(async () => {
      this.#isWriting = false;
      await this.#flush();
    });
  }

  #then(run: () => Promise<void>): Promise<void> {
    this.#idle = this.#idle.then(run);
    return this.#idle;
  }

  async #flush(): Promise<void> {
    while (!this.#waiting.isEmpty) {
      const file = this.#file ?? (await this.#openAgain());
      const events = this.#waiting.take(EVENTS_PER_WRITE);
      if (file === undefined) {
        this.#lose(events.length, this.#openError);
        continue;
      }
      try {
        await file.appendFile((this.#isTorn ? '\n' : '') + events.map(lineOf).join(''));
        this.#isTorn = false;
        this.#syncLater(file);
      } catch (err) {
        this.#isTorn = true;
        this.#lose(events.length, err as Error);
      }
    }
  }

  async #open(): Promise<void> {
    const { file, log } = this.#ports;
    if ((await this.#tryToOpen()) === undefined) {
      log.warn({ err: this.#openError, file }, 'event log cannot be opened, events are not written to it');
    }
  }

  /** Opens the file at most once per `OPEN_INTERVAL_MS`. Failures are not logged: the log line about lost events gives the reason. */
  async #openAgain(): Promise<FileHandle | undefined> {
    const { clock, file, log } = this.#ports;
    if (clock.monotonicMs() - this.#openTriedAtMs < OPEN_INTERVAL_MS) return undefined;
    const opened = await this.#tryToOpen();
    if (opened !== undefined) log.info({ file }, 'event log opened again');
    return opened;
  }

  async #tryToOpen(): Promise<FileHandle | undefined> {
    const { clock, file } = this.#ports;
    this.#openTriedAtMs = clock.monotonicMs();
    try {
      this.#file = await open(file, APPENDING, MODE);
      this.#isTorn = false;
    } catch (err) {
      this.#openError = err as Error;
    }
    return this.#file;
  }

  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    if (file === undefined) return;
    await this.#sync(file);
    try {
      await file.close();
    } catch (err) {
      this.#ports.log.error({ err, file: this.#ports.file }, 'event log cannot be closed');
    }
  }

  #syncLater(file: FileHandle): void {
    this.#cancelSync ??= this.#ports.clock.after(SYNC_INTERVAL_MS, () => {
      this.#cancelSync = undefined;
      void this.#then(() => (file === this.#file ? this.#sync(file) : Promise.resolve()));
    });
  }

  async #sync(file: FileHandle): Promise<void> {
    try {
      await file.datasync();
    } catch (err) {
      // A pipe has nothing to sync.
      if ((err as NodeJS.ErrnoException).code === 'EINVAL') return;
      this.#ports.log.error({ err, file: this.#ports.file }, 'event log cannot be synced');
    }
  }

  #lose(events: number, reason: Error | undefined): void {
    this.#lost += events;
    this.#lostTotal += events;
    this.#lossReason = reason;
    this.#cancelReport ??= this.#ports.clock.after(LOSS_INTERVAL_MS, () => {
      this.#cancelReport = undefined;
      this.#reportLoss();
    });
  }

  #reportLoss(): void {
    const fields = { err: this.#lossReason, lost: this.#lost, file: this.#ports.file };
    this.#ports.log.error(fields, 'events were lost to the event log');
    this.#lost = 0;
  }
}

const lineOf = (event: Event): string => `${stringifyExactly(redactEvent(event))}\n`;

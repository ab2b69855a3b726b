import { setImmediate as nextTick } from 'node:timers/promises';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { LedgerEntry } from '../../store/ledger/ledger.ts';
import type { LedgerQuery, LedgerSlice } from '../../store/ledger/ledger-query.ts';

/** Entries of one step of reading. Other work is done between two steps. */
const SLICE_ENTRIES = 200;
/** The shortest time between two steps without a backlog, so that a busy backend sends its changes in groups. */
const INTERVAL_MS = 50;

/** A receiver of changes. */
export interface LiveReader {
  send(text: string): void;
  drained(): Promise<void>;
  fail(): void;
}

export interface LiveFollowerPorts {
  reader: LiveReader;
  ledger(query: LedgerQuery): LedgerSlice;
  /** The message of an entry, or undefined when the reader does not get it. Called for the entries of one step in turn. */
  messages(entries: readonly LedgerEntry[]): string[];
  clock: Clock;
  log: Log;
}

/** Sends the entries of the ledger after a number to one reader, at its pace and without a gap. */
export class LiveFollower {
  readonly #ports: LiveFollowerPorts;
  #afterSeq: number;
  #isOpen = true;
  #isBehind = true;
  #wake: (() => void) | undefined;

  constructor(afterSeq: number, ports: LiveFollowerPorts) {
    this.#afterSeq = afterSeq;
    this.#ports = ports;
  }

  /** Must be called when entries became durable. */
  advanced(): void {
    this.#isBehind = true;
    this.#wake?.();
  }

  end(): void {
    this.#isOpen = false;
    this.#wake?.();
  }

  /** Sends until `end` is called. */
  async run(): Promise<void> {
    const { reader, log } = this.#ports;
    try {
      while (this.#isOpen) {
        const hasMore = this.#step();
        await reader.drained();
        if (hasMore) await nextTick();
        else await this.#pause();
      }
    } catch (err) {
      log.error({ err }, 'could not read the changes for a live connection');
      reader.fail();
    }
  }

  /** Sends one slice. Returns whether another one follows. */
  #step(): boolean {
    this.#isBehind = false;
    const { ledger, messages, reader } = this.#ports;
    const { entries, afterSeq } = ledger({ afterSeq: this.#afterSeq, limit: SLICE_ENTRIES });
    for (const text of messages(entries)) reader.send(text);
    this.#afterSeq = afterSeq ?? entries.at(-1)?.seq ?? this.#afterSeq;
    return afterSeq !== undefined;
  }

  /** Waits for the interval, and then until there are new entries. */
  async #pause(): Promise<void> {
    await new Promise<void>((resolve) => void this.#ports.clock.after(INTERVAL_MS, resolve));
    if (this.#isBehind || !this.#isOpen) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }
}

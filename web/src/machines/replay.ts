/** An entry of the ledger. */
export interface LedgerEntry {
  seq: number;
  atMs: number;
  actor: string;
  key: string;
  from: string | null;
  event: string;
  to: string | null;
  cause: Record<string, unknown>;
  guards: { name: string; passed: boolean; inputs: unknown }[];
  details?: Record<string, unknown>;
  configRevision: number;
  prevHash: string;
  hash: string;
}

/** One actor at one step of a replay. */
export interface ReplayedActor {
  machine: string;
  key: string;
  /** The top-level state; null when there is no actor, undefined when the entries do not show it. */
  value: string | null | undefined;
  /** The last entry of this actor up to the step. */
  last: LedgerEntry | undefined;
  /** The first entry of this actor after the step. */
  next: LedgerEntry | undefined;
}

/** The entries of one actor that were read, and the number up to which the ledger was searched for them. */
export interface ReadOfActor {
  entries: readonly LedgerEntry[];
  /** `Infinity` when all were read. */
  readUpTo: number;
}

/** The entries of several actors that have been read. */
export interface ReadEntries {
  /** In the order of the ledger. No entry of these actors is missing between two of them. */
  entries: LedgerEntry[];
  /** The time of the last of them, Unix seconds; 0 for none. Undefined when all were read. */
  untilS: number | undefined;
}

/**
 * Joins the entries of several actors, up to the point to which all of them were read, so that no actor is shown at a
 * later time than another.
 */
export function joined(lists: readonly ReadOfActor[]): ReadEntries {
  const readUpTo = Math.min(...lists.map((list) => list.readUpTo));
  const entries = lists
    .flatMap((list) => list.entries)
    .filter(({ seq }) => seq <= readUpTo)
    .toSorted((one, other) => one.seq - other.seq);
  return { entries, untilS: readUpTo === Infinity ? undefined : (entries.at(-1)?.atMs ?? 0) / 1_000 };
}

const FIRST_WAIT_MS = 300;
const MIN_WAIT_MS = 250;
const MAX_WAIT_MS = 1_600;

/**
 * A part of the ledger that plays: step 0 is before the first entry, step n after the nth one. Every step can be shown from the
 * entries alone, so that a slider can jump.
 */
export class Replay {
  readonly entries: readonly LedgerEntry[];
  readonly #addresses: readonly { machine: string; key: string }[];

  constructor(entries: readonly LedgerEntry[], addresses: readonly { machine: string; key: string }[]) {
    this.entries = entries;
    this.#addresses = addresses;
  }

  get steps(): number {
    return this.entries.length;
  }

  /** The time of a step, Unix ms; that of step 0 is the time of the first entry. */
  timeMsAt(step: number): number | undefined {
    return this.entries[Math.max(step, 1) - 1]?.atMs;
  }

  /** The entry that led to a step. */
  entryAt(step: number): LedgerEntry | undefined {
    return this.entries[step - 1];
  }

  at(step: number): ReplayedActor[] {
    return this.#addresses.map(({ machine, key }) => {
      const isOwn = (entry: LedgerEntry): boolean => entry.actor === machine && entry.key === key;
      const last = this.entries.slice(0, step).findLast(isOwn);
      const next = this.entries.slice(step).find(isOwn);
      return { machine, key, value: last === undefined ? next?.from : last.to, last, next };
    });
  }

  /** How long a step is shown before the next one, ms: the recorded time at this speed, with an upper limit. */
  waitMsAfter(step: number, speed: number): number {
    const [now, next] = [this.timeMsAt(step), this.timeMsAt(step + 1)];
    if (step === 0 || now === undefined || next === undefined) return FIRST_WAIT_MS;
    return Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, (next - now) / speed));
  }

  /** The step after all entries up to a time. */
  stepAt(atMs: number): number {
    return this.entries.filter((entry) => entry.atMs <= atMs).length;
  }
}

/** Parses `<machine>:<key>`. */
export function addressOf(sessionId: string): { machine: string; key: string } {
  const colon = sessionId.indexOf(':');
  return { machine: sessionId.slice(0, Math.max(0, colon)), key: sessionId.slice(colon + 1) };
}

import type { EntityConfig } from '../resources/entity.ts';
import type { LedgerDraft } from './ledger.ts';
import { TABLE_NAMES, type TableName, type Tables } from './records.ts';
import type { CheckRequest } from '../wire/json-codec.ts';

/** Facts for whoever listens, told only after the decision is durable. */
export type Announcement =
  | { type: 'entity-config.changed'; namespace: string; name: string; config: EntityConfig }
  | { type: 'entity.deleted'; namespace: string; name: string }
  | { type: 'check.changed'; namespace: string; name: string }
  | { type: 'check.requested'; namespace: string; subscriptions: string[]; request: CheckRequest };

/** Whoever sent inputs and must hear what became of them. */
export interface Source {
  /** Everything up to number `n` is durable; called once per batch, with the highest. */
  acknowledged(n: number): void;
  /** A batch that held inputs of this source was lost; nothing of it is stored. */
  lost(error: Error): void;
}

export type TablePuts = { [T in TableName]: Map<string, Tables[T] | null> };

/** `null` marks a key that is to be deleted. */
export function emptyPuts(): TablePuts {
  return Object.fromEntries(TABLE_NAMES.map((table) => [table, new Map()])) as TablePuts;
}

export interface TableReader {
  get<T extends TableName>(table: T, key: string): Tables[T] | undefined;
}

/** What one input does, all of it or nothing: a draft that nobody sees before it joins the committer's open batch. */
export class Decision implements TableReader {
  readonly puts = emptyPuts();
  readonly ledger: LedgerDraft[] = [];
  readonly announcements: Announcement[] = [];
  /** Deadlines to arm (Unix ms) or to drop (undefined), by the wheel's key. */
  readonly deadlines = new Map<string, number | undefined>();
  source: Source | undefined;
  /** The number to acknowledge to the source, if it counts. */
  acknowledge: number | undefined;
  readonly #beneath: TableReader;

  constructor(beneath: TableReader) {
    this.#beneath = beneath;
  }

  get<T extends TableName>(table: T, key: string): Tables[T] | undefined {
    const own = this.puts[table].get(key);
    if (own !== undefined) return own ?? undefined;
    return this.#beneath.get(table, key);
  }

  put<T extends TableName>(table: T, key: string, value: Tables[T]): void {
    this.puts[table].set(key, value);
  }

  delete(table: TableName, key: string): void {
    this.puts[table].set(key, null);
  }

  get isEmpty(): boolean {
    return this.ledger.length === 0 && TABLE_NAMES.every((table) => this.puts[table].size === 0);
  }
}

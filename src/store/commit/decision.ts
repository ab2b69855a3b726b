import type { Check } from '../../resources/check.ts';
import type { EntityConfig } from '../../resources/entity.ts';
import type { Event } from '../../resources/event.ts';
import type { MetricPoint } from '../../resources/metric-point.ts';
import type { LedgerCause, LedgerDraft } from '../ledger/ledger.ts';
import { canHide, isHidden, visible } from '../records/pending-deletions.ts';
import { type DeletedKind, TABLE_NAMES, type TableName, type Tables } from '../records/records.ts';
import type { TableReader } from '../records/table-reader.ts';
import { Tally } from './tally.ts';
import type { CheckRequest } from '../../wire/check-request.ts';

/** Notifications of listeners, which are sent only after the decision is durable. */
export type Announcement =
  | { type: 'entity-config.changed'; namespace: string; name: string; config: EntityConfig }
  | { type: 'entity.deleted'; namespace: string; name: string }
  /** The first keepalive of an agent created its entity. */
  | { type: 'entity.registered'; namespace: string; name: string }
  | OutboxFilled
  | HandlerSkipped
  | { type: 'rbac.changed' }
  /** The event as it is stored, or with its metrics where it has no check. Sent only when a listener wants it. */
  | { type: 'event.processed'; event: Event }
  | { type: 'namespace.deleted'; namespace: string }
  | DeletionPending
  | AggregatesChanged
  | MetricsReceived
  | CheckRequested
  | ProxyRunRequested
  /** Undefined when it was deleted. */
  | { type: 'check.changed'; namespace: string; name: string; check: Check | undefined };

/** A deletion is to be carried out in steps. It covers the items whose keys begin with `prefix`, and has hidden them. */
export interface DeletionPending {
  type: 'deletion.pending';
  kind: DeletedKind;
  prefix: string;
}

/** The result of an entity and check joined or left aggregates, or is the next one in the same aggregates. */
export interface AggregatesChanged {
  type: 'aggregates.changed';
  /** `<namespace>/<entity>/<check>` */
  key: string;
  before: readonly string[];
  after: readonly string[];
  status: number;
  /** Unix seconds. */
  executedS: number;
}

/** A result had metrics, which are not stored. */
export interface MetricsReceived {
  type: 'metrics.received';
  /** `<namespace>/<entity>/<check>` */
  key: string;
  /** Unix seconds. */
  atS: number;
  points: readonly MetricPoint[];
}

/** An outbox entry without its event. */
export interface OutboxFilled {
  type: 'outbox.filled';
  outboxKey: string;
  key: string;
  namespace: string;
  handler: string;
  /** The size of its event. */
  bytes: number;
}

/** A handler that is not run with an event that names it, although no filter denied the event. */
export interface HandlerSkipped {
  type: 'handler.skipped';
  namespace: string;
  /** Undefined for a handler that a check names. */
  pipeline?: string | undefined;
  workflow?: string | undefined;
  /** Empty for a pipeline that leads to no handler. */
  handler: string;
  /** How many further handlers are not run for the same reason. */
  others?: number | undefined;
  /** `<namespace>/<entity>/<check>` */
  key: string;
  reason: string;
}

export interface CheckRequested {
  type: 'check.requested';
  namespace: string;
  subscriptions: string[];
  request: CheckRequest;
  /** Whether a user requested it, and not the schedule of the check. */
  adhoc: boolean;
  /** The tick that requested it, Unix ms; undefined for a request of a user. */
  tickAtMs: number | undefined;
}

/** The request to run a check once for each entity that matches all expressions. */
export interface ProxyRunRequested {
  type: 'proxy-run.requested';
  namespace: string;
  /** The name of the check. */
  check: string;
  expressions: readonly string[];
  /** Subscriptions that replace those of the check. */
  subscriptions: string[] | undefined;
  /** Whether a user requested it, and not the schedule of the check. */
  adhoc: boolean;
  /** Unix ms. */
  atMs: number;
  cause: LedgerCause;
}

/** A sender of inputs that is notified of their outcome. */
export interface Source {
  /** Everything up to number `n` is durable; called once per batch, with the highest. */
  acknowledged(n: number): void;
  /** A batch with inputs of this source was lost; nothing of it is stored. */
  inputsLost(error: Error): void;
}

export type TablePuts = { [T in TableName]: Map<string, Tables[T] | null> };

/** Returns puts without changes. A value of `null` deletes its key. */
export function emptyPuts(): TablePuts {
  return Object.fromEntries(TABLE_NAMES.map((table) => [table, new Map()])) as TablePuts;
}

export type { TableReader };

/** Reads all records, also those that pending deletions hide. */
export interface KeyedTableReader extends TableReader {
  keys(table: TableName, prefix: string): Set<string>;
  /** Whether there are more keys than `limit` that begin with `prefix`, at little cost. Absent where there never are. */
  hasMoreThan?(limit: number, table: TableName, prefix: string): boolean;
  /** False or absent while no deletion is pending. */
  readonly hasDeletions?: boolean;
}

export interface Put {
  table: TableName;
  key: string;
  /** `null` deletes. */
  value: unknown;
}

/** An earlier firing of a repeated deadline. If the grace of blind time has changed since then, the first deadline counts again. */
export interface Repeat {
  /** The grace of blind time at the last one. */
  graceMs: number;
  /** The first deadline after the input, without grace. */
  firstAtMs: number;
}

/** A deadline to arm, or to clear when `atMs` is undefined. */
export interface DeadlineChange {
  actor: string;
  key: string;
  /** Unix ms. */
  atMs: number | undefined;
  /** The input it counts from, Unix ms: blind time after that moves the deadline. */
  sinceMs: number;
  repeat?: Repeat | undefined;
}

/** A decision with more puts than this is read through an index. */
const UNINDEXED_PUTS = 16;

/** The changes of one input, applied all or none. They are not visible to others before the decision joins the committer's open batch. */
export class Decision implements TableReader {
  /** There are few puts: a list is cheaper to create for each event than maps. */
  readonly puts: Put[] = [];
  readonly ledger: LedgerDraft[] = [];
  readonly announcements: Announcement[] = [];
  readonly deadlines: DeadlineChange[] = [];
  /** Counted when the decision is durable. */
  readonly tally = new Tally();
  source: Source | undefined;
  /** The number to acknowledge to the source, if the source numbers its inputs. */
  acknowledge: number | undefined;
  readonly #beneath: KeyedTableReader;
  #hasDeletions = false;
  /** The latest put of each key among the first `#indexed` puts, by table. */
  #index: Map<TableName, Map<string, unknown>> | undefined;
  #indexed = 0;

  constructor(beneath: KeyedTableReader) {
    this.#beneath = beneath;
  }

  /** Returns the record as this decision sees it, without what pending deletions hide. */
  get<T extends TableName>(table: T, key: string): Tables[T] | undefined {
    const record = this.#get(table, key);
    return record === undefined || !this.seesDeletions ? record : visible(this.stored, table, key, record);
  }

  /** Also reads what pending deletions hide. */
  get stored(): TableReader {
    return { get: (table, key) => this.#get(table, key) };
  }

  /** Whether deletions may be pending. */
  get seesDeletions(): boolean {
    return this.#hasDeletions || this.#beneath.hasDeletions === true;
  }

  #get<T extends TableName>(table: T, key: string): Tables[T] | undefined {
    const value = this.puts.length > UNINDEXED_PUTS ? this.#indexedPut(table, key) : this.#lastPut(table, key)?.value;
    return value === undefined ? this.#beneath.get(table, key) : ((value ?? undefined) as Tables[T] | undefined);
  }

  #lastPut(table: TableName, key: string): Put | undefined {
    for (let index = this.puts.length - 1; index >= 0; index -= 1) {
      const put = this.puts[index];
      if (put?.key === key && put.table === table) return put;
    }
    return undefined;
  }

  /** Looks the key up in an index, so that a decision with many puts takes linear time. */
  #indexedPut(table: TableName, key: string): unknown {
    this.#index ??= new Map(TABLE_NAMES.map((name) => [name, new Map<string, unknown>()]));
    for (; this.#indexed < this.puts.length; this.#indexed += 1) {
      const put = this.puts[this.#indexed];
      if (put !== undefined) this.#index.get(put.table)?.set(put.key, put.value);
    }
    return this.#index.get(table)?.get(key);
  }

  /** Keys of the table that begin with `prefix` (which ends with a slash), as this decision sees it; in no order. */
  keys(table: TableName, prefix: string): Set<string> {
    const keys = this.#storedKeys(table, prefix);
    if (!this.seesDeletions || !canHide(table, prefix)) return keys;
    const { stored } = this;
    return new Set([...keys].filter((key) => !isHidden(stored, table, key)));
  }

  /** Like `keys`; undefined when there are more than `limit`. Does not read all of these. */
  fewKeys(limit: number, table: TableName, prefix: string): Set<string> | undefined {
    if (this.#beneath.hasMoreThan?.(limit, table, prefix) === true) return undefined;
    const keys = this.keys(table, prefix);
    return keys.size > limit ? undefined : keys;
  }

  #storedKeys(table: TableName, prefix: string): Set<string> {
    const keys = this.#beneath.keys(table, prefix);
    for (const put of this.puts) {
      if (put.table !== table || !put.key.startsWith(prefix)) continue;
      if (put.value === null) keys.delete(put.key);
      else keys.add(put.key);
    }
    return keys;
  }

  /** Whether there is nothing to store and nothing to announce. */
  get isEmpty(): boolean {
    return (
      this.puts.length === 0 && this.ledger.length === 0 && this.announcements.length === 0 && this.source === undefined
    );
  }

  put<T extends TableName>(table: T, key: string, value: Tables[T]): void {
    if (table === 'deletions') this.#hasDeletions = true;
    const last = this.puts.length > UNINDEXED_PUTS ? undefined : this.#lastPut(table, key);
    if (last === undefined) this.puts.push({ table, key, value });
    else last.value = value;
  }

  delete(table: TableName, key: string): void {
    this.puts.push({ table, key, value: null });
  }
}

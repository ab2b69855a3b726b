import { batch, signal } from '@preact/signals';
import { at, get, list } from '../../api/client.ts';
import { messageOf } from '../../api/problem.ts';
import { type Change, listen } from '../../live/feed.ts';
import { type EventKey, type EventRow, keyOf } from './event-row.ts';

/** More rows are not read: the search of the server must narrow them. */
export const MAX_ROWS = 20_000;
const FIRST_PAGE = 100;
const PAGE = 1_000;
/** The maximum number of events in one request. */
const NAMED = 100;
/** Changes within this time lead to one request. */
const GATHER_MS = 200;
/** Silences change many rows at once. */
const GATHER_ALL_MS = 600;
/** Results that change nothing are not in the live feed, so what is visible is read again. */
const REFRESH_MS = 10_000;

const ROW_KINDS: ReadonlySet<string> = new Set(['check-state', 'check-ttl']);
const SILENCE_KINDS: ReadonlySet<string> = new Set(['silence', 'silenced']);

export interface ListState {
  isLoading: boolean;
  isComplete: boolean;
  error: string | undefined;
}

/** The events of a namespace, kept up to date. Reading is bounded; drawing follows `version`, once per animation frame. */
export class EventList {
  readonly rows = new Map<EventKey, EventRow>();
  readonly state = signal<ListState>({ isLoading: true, isComplete: false, error: undefined });
  /** Counts the changes of `rows`. */
  readonly version = signal(0);
  /** The rows that are visible now. */
  visible: readonly EventKey[] = [];
  readonly #namespace: string;
  readonly #scope: 'open' | 'all';
  readonly #changed = new Set<EventKey>();
  readonly #aborting = new AbortController();
  #gathering: ReturnType<typeof setTimeout> | undefined;
  #reloading: ReturnType<typeof setTimeout> | undefined;
  #isFramed = false;
  #generation = 0;

  constructor(namespace: string, scope: 'open' | 'all') {
    this.#namespace = namespace;
    this.#scope = scope;
  }

  /** Reads and follows until the returned function is called. */
  start(): () => void {
    const stop = listen({ changed: (changes) => this.#onChanges(changes), missed: () => this.reload() });
    const timer = setInterval(() => {
      if (!document.hidden) this.#ask(this.visible);
    }, REFRESH_MS);
    this.reload();
    return () => {
      stop();
      clearInterval(timer);
      clearTimeout(this.#gathering);
      clearTimeout(this.#reloading);
      this.#aborting.abort();
    };
  }

  reload(): void {
    void this.#read();
  }

  /** Reads these rows again. */
  refresh(keys: readonly EventKey[]): void {
    this.#ask(keys);
  }

  get #path(): string {
    return at`/api/mon/v1/namespaces/${this.#namespace}/event-summaries`;
  }

  async #read(): Promise<void> {
    this.#generation += 1;
    const generation = this.#generation;
    const seen = new Set<EventKey>();
    this.state.value = { ...this.state.value, isLoading: true };
    try {
      let next: string | undefined;
      let limit = FIRST_PAGE;
      do {
        const query = { state: this.#scope, limit, continue: next };
        const page: { items: EventRow[]; next: string | undefined } = await list<EventRow>(this.#path, {
          query,
          signal: this.#aborting.signal,
        });
        if (generation !== this.#generation) return;
        for (const row of page.items) {
          seen.add(keyOf(row));
          this.rows.set(keyOf(row), row);
        }
        this.#announce();
        next = page.next;
        limit = PAGE;
      } while (next !== undefined && seen.size < MAX_ROWS);
      for (const key of this.rows.keys()) if (!seen.has(key)) this.rows.delete(key);
      // Both at once, so that the last rows count as read and do not wait as new ones.
      batch(() => {
        this.version.value += 1;
        this.state.value = { isLoading: false, isComplete: next === undefined, error: undefined };
      });
    } catch (error) {
      if (this.#aborting.signal.aborted || generation !== this.#generation) return;
      this.state.value = { ...this.state.value, isLoading: false, error: messageOf(error) };
    }
  }

  #onChanges(changes: readonly Change[]): void {
    const prefix = `${this.#namespace}/`;
    const named: EventKey[] = [];
    for (const { kind, key } of changes) {
      if (!key.startsWith(prefix)) continue;
      if (ROW_KINDS.has(kind)) named.push(key.slice(prefix.length));
      else if (SILENCE_KINDS.has(kind)) this.#reloadSoon();
    }
    this.#ask(named);
  }

  #reloadSoon(): void {
    this.#reloading ??= setTimeout(() => {
      this.#reloading = undefined;
      this.reload();
    }, GATHER_ALL_MS);
  }

  #ask(keys: Iterable<EventKey>): void {
    for (const key of keys) this.#changed.add(key);
    if (this.#changed.size === 0) return;
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      void this.#readChanged();
    }, GATHER_MS);
  }

  async #readChanged(): Promise<void> {
    const keys = [...this.#changed].slice(0, NAMED);
    for (const key of keys) this.#changed.delete(key);
    try {
      const rows = await get<EventRow[]>(this.#path, { query: { event: keys }, signal: this.#aborting.signal });
      const found = new Map(rows.map((row) => [keyOf(row), row]));
      for (const key of keys) {
        const row = found.get(key);
        if (row === undefined) this.rows.delete(key);
        else this.rows.set(key, row);
      }
      this.#announce();
    } catch (error) {
      // The feed reconnects and everything is read again; until then the header says that this is not the present.
      if (!this.#aborting.signal.aborted) this.state.value = { ...this.state.value, error: messageOf(error) };
      return;
    }
    if (this.state.value.error !== undefined) this.state.value = { ...this.state.value, error: undefined };
    this.#ask([]);
  }

  #announce(): void {
    if (this.#isFramed) return;
    this.#isFramed = true;
    const draw = (): void => {
      this.#isFramed = false;
      this.version.value += 1;
    };
    if (document.hidden) draw();
    else requestAnimationFrame(draw);
  }
}

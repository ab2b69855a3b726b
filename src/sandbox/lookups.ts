/** The different events that the programs of one task can fetch. A further call throws. */
export const MAX_FETCHED_EVENTS = 20;
/** The JSON of all events that the programs of one task look up. A call beyond it throws. */
export const MAX_LOOKED_UP_CHARACTERS = 1024 * 1024;

/** The key of the list of all events of the namespace. */
export const LIST_KEY = '*';
/** The key of the error of all further events. */
export const OTHERS_KEY = '?';

/** Reads the events of one namespace as JSON, as filters see them, with their secrets redacted. */
export interface EventReader {
  get(entity: string, check: string): string | undefined;
  /** Returns the JSON of a list, or why there is none. */
  list(): Promise<{ json: string } | { error: string }>;
}

/**
 * What was looked up for the programs of a task: by `LIST_KEY`, or by the JSON of the names of an entity and a check. A
 * text begins with `v` before JSON and with `e` before an error; an empty one means that there is no such event.
 */
export type LookedUp = Readonly<Record<string, string>>;

/** Looks up what the programs of one task ask for, each event once, within limits. */
export class Lookups {
  readonly #events: EventReader | undefined;
  readonly #found: Record<string, string> = {};
  #fetched = 0;
  #characters = 0;

  /** Without `events` each call throws. */
  constructor(events: EventReader | undefined) {
    this.#events = events;
  }

  get found(): LookedUp {
    return this.#found;
  }

  async add(key: string): Promise<void> {
    if (this.#events === undefined) {
      this.#found[LIST_KEY] = this.#found[OTHERS_KEY] = 'eevents cannot be read here';
    } else if (key !== LIST_KEY && this.#fetched >= MAX_FETCHED_EVENTS) {
      this.#found[OTHERS_KEY] = `eat most ${MAX_FETCHED_EVENTS} events can be fetched`;
    } else {
      this.#found[key] = await this.#read(key, this.#events);
    }
  }

  async #read(key: string, events: EventReader): Promise<string> {
    if (key === LIST_KEY) {
      const list = await events.list();
      return 'error' in list ? `e${list.error}` : this.#within(list.json);
    }
    this.#fetched += 1;
    const [entity, check] = JSON.parse(key) as [string, string];
    const json = events.get(entity, check);
    return json === undefined ? '' : this.#within(json);
  }

  #within(json: string): string {
    if (this.#characters + json.length > MAX_LOOKED_UP_CHARACTERS) {
      return `eat most ${MAX_LOOKED_UP_CHARACTERS} characters of events can be looked up`;
    }
    this.#characters += json.length;
    return `v${json}`;
  }
}

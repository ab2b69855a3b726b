import { setImmediate as nextTick } from 'node:timers/promises';
import type { CheckEvent } from '../resources/event.ts';
import { isName } from '../resources/names.ts';
import { redactEvent } from '../resources/redaction.ts';
import { filterEvent } from '../sandbox/filter-event.ts';
import { type EventReader, MAX_LOOKED_UP_CHARACTERS } from '../sandbox/lookups.ts';
import type { EventStore } from '../store/event-store.ts';

/** The events of a list. A namespace with more has no list. */
const MAX_LISTED_EVENTS = 500;
/** Events that are read in one tick of the event loop. */
const EVENTS_PER_TICK = 20;

type List = { json: string } | { error: string };

/**
 * Reads events for the programs of filters and mutators, as filters see them and with their secrets redacted. One list is
 * read at a time, in slices, and is shared by all programs that asked for it before it was begun.
 */
export class EventLookups {
  readonly #events: Pick<EventStore, 'get' | 'list'>;
  /** Lists that are not begun, by namespace. */
  readonly #waiting = new Map<string, Promise<List>>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(events: Pick<EventStore, 'get' | 'list'>) {
    this.#events = events;
  }

  of(namespace: string): EventReader {
    return {
      get: (entity, check) => {
        if (!isName(entity) || !isName(check)) return undefined;
        const event = this.#events.get(namespace, entity, check);
        return event && jsonOf(event);
      },
      list: () => this.#list(namespace),
    };
  }

  #list(namespace: string): Promise<List> {
    const waiting = this.#waiting.get(namespace);
    if (waiting !== undefined) return waiting;
    const read = (): Promise<List> => {
      this.#waiting.delete(namespace);
      return this.#read(namespace);
    };
    // The programs that asked for a list receive its error; the next list is read all the same.
    const list = this.#last.then(read, read);
    this.#waiting.set(namespace, list);
    this.#last = list;
    return list;
  }

  async #read(namespace: string): Promise<List> {
    const events: string[] = [];
    let characters = 0;
    for (const event of this.#events.list({ namespace }).items) {
      if (events.length === MAX_LISTED_EVENTS) {
        return { error: `the namespace has more than ${MAX_LISTED_EVENTS} events` };
      }
      const json = jsonOf(event);
      characters += json.length;
      if (characters > MAX_LOOKED_UP_CHARACTERS) {
        return { error: `the events of the namespace have more than ${MAX_LOOKED_UP_CHARACTERS} characters` };
      }
      events.push(json);
      if (events.length % EVENTS_PER_TICK === 0) await nextTick();
    }
    return { json: `[${events.join(',')}]` };
  }
}

const jsonOf = (event: CheckEvent): string => JSON.stringify(filterEvent(redactEvent(event)));

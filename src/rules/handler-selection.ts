/** Levels of name lists that are resolved: that of the event, that of its sets, and that of their sets. */
const MAX_LEVELS = 3;
/** The maximum number of distinct handlers and sets of one event. */
const MAX_NAMES = 1_000;
/** The maximum number of names that are read for one event, including duplicates. */
const MAX_READ = 10_000;

export const TOO_MANY_NAMES = `an event leads to at most ${MAX_NAMES} handlers and sets: this one and those after it are left out`;

/** The fields of a handler that the selection reads. */
interface Selectable {
  type: string | undefined;
  handlers: string[] | null;
}

/** A name that selects no handler, and the reason. */
export interface Unselected {
  name: string;
  reason: 'handler does not exist' | 'handler sets cannot be deeply nested' | typeof TOO_MANY_NAMES;
}

export interface Selection<H> {
  selected: [name: string, handler: H][];
  unselected: Unselected[];
}

/**
 * Returns the handlers that an event names, sorted by name, with sets replaced by their members. It searches level by level, so
 * that each name is resolved once, at its highest level.
 */
export function selectHandlers<H extends Selectable>(
  names: readonly string[],
  lookUp: (name: string) => H | undefined,
): Selection<H> {
  const seen = new Set<string>();
  const selected: [name: string, handler: H][] = [];
  const unselected: Unselected[] = [];
  let lists: (readonly string[])[] = [names];
  let read = 0;
  for (let level = 1; level <= MAX_LEVELS; level += 1) {
    const below: string[][] = [];
    for (const list of lists) {
      for (const name of list) {
        read += 1;
        if (seen.has(name) && read <= MAX_READ) continue;
        if (seen.size === MAX_NAMES || read > MAX_READ) {
          unselected.push({ name, reason: TOO_MANY_NAMES });
          return { selected: inOrder(selected), unselected };
        }
        seen.add(name);
        const handler = lookUp(name);
        if (handler === undefined) unselected.push({ name, reason: 'handler does not exist' });
        else if (handler.type !== 'set') selected.push([name, handler]);
        else if (level === MAX_LEVELS) unselected.push({ name, reason: 'handler sets cannot be deeply nested' });
        else below.push(handler.handlers ?? []);
      }
    }
    lists = below;
  }
  return { selected: inOrder(selected), unselected };
}

const inOrder = <H>(selected: [name: string, handler: H][]): [name: string, handler: H][] =>
  selected.sort(([a], [b]) => (a < b ? -1 : 1));

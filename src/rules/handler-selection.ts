import { LeftOutNames } from './left-out-names.ts';

/** Levels of name lists that are resolved: that of the event, that of its sets, and that of their sets. */
const MAX_LEVELS = 3;
/** The maximum number of distinct handlers and sets of one event. */
const MAX_NAMES = 1_000;
/** Handlers that do not exist and are reported one by one. Further ones of an event are reported together. */
const MAX_MISSING = 100;
/** The maximum number of names that are read for one event, including duplicates. */
const MAX_READ = 10_000;
/** The maximum number of further names that are read, to name those that are left out. */
const MAX_LEFT_OUT_READ = 10_000;

const TOO_MANY_NAMES = `an event leads to at most ${MAX_NAMES} handlers and sets: this one and those after it are left out`;

/** The reason for skipping a handler that does not exist. */
export const NO_HANDLER = 'handler does not exist';
const NO_MEMBERS = 'handler set leads to no handler';

/** The fields of a handler that the selection reads. */
interface Selectable {
  type: string | undefined;
  handlers: string[] | null;
}

/** A name that selects no handler, and the reason. */
export interface Unselected {
  name: string;
  reason: string;
  /** The further names that are left out for the same reason. */
  others?: readonly string[];
}

export interface Selection<H> {
  selected: [name: string, handler: H][];
  unselected: Unselected[];
}

/** The names of one list, and the set that has it; undefined for the list of the event. */
interface NameList {
  owner: string | undefined;
  names: readonly string[];
}

/**
 * Returns the handlers that an event names, sorted by name, with sets replaced by their members. It searches level by level, so
 * that each name is resolved once, at its highest level. A set that leads to nothing, because it is empty or has only sets that
 * name each other, is one of the unselected.
 */
export function selectHandlers<H extends Selectable>(
  names: readonly string[],
  lookUp: (name: string) => H | undefined,
): Selection<H> {
  const seen = new Set<string>();
  const selected: [name: string, handler: H][] = [];
  const unselected: Unselected[] = [];
  const missing = new LeftOutNames();
  let reported = 0;
  const members = new Memberships();
  let lists: NameList[] = [{ owner: undefined, names }];
  let read = 0;
  for (let level = 1; level <= MAX_LEVELS; level += 1) {
    const below: NameList[] = [];
    for (const [at, { owner, names: list }] of lists.entries()) {
      for (const [index, name] of list.entries()) {
        read += 1;
        members.add(name, owner);
        if (seen.has(name) && read <= MAX_READ) continue;
        if (seen.size === MAX_NAMES || read > MAX_READ) {
          const rest = [list.slice(index), ...[...lists.slice(at + 1), ...below].map((one) => one.names)];
          unselected.push(...reportTogether(missing, NO_HANDLER), ...leftOut(rest, seen));
          return { selected: inOrder(selected), unselected };
        }
        seen.add(name);
        const handler = lookUp(name);
        if (handler === undefined && reported === MAX_MISSING) missing.add(name);
        else if (handler === undefined) {
          reported += 1;
          unselected.push({ name, reason: NO_HANDLER });
        } else if (handler.type !== 'set') selected.push([name, handler]);
        else if (level === MAX_LEVELS) unselected.push({ name, reason: 'handler sets cannot be deeply nested' });
        else below.push({ owner: name, names: handler.handlers ?? [] });
        if (handler?.type === 'set' && level < MAX_LEVELS) members.addSet(name, owner);
      }
    }
    lists = below;
  }
  unselected.push(...reportTogether(missing, NO_HANDLER));
  const results = [...selected.map(([name]) => name), ...unselected.map(({ name }) => name)];
  for (const name of members.setsWithout(results)) unselected.push({ name, reason: NO_MEMBERS });
  return { selected: inOrder(selected), unselected };
}

/** The names of these lists that were not resolved. Sets among them are not replaced by their members. */
function leftOut(lists: readonly (readonly string[])[], seen: ReadonlySet<string>): Unselected[] {
  const names = new LeftOutNames();
  let read = 0;
  for (const list of lists) {
    for (const name of list.slice(0, MAX_LEFT_OUT_READ + 1 - read)) {
      read += 1;
      if (!seen.has(name)) names.add(name);
    }
    if (read > MAX_LEFT_OUT_READ) {
      names.stop();
      break;
    }
  }
  // Where all of the names that were read are resolved already, further ones may not be.
  if (names.isEmpty && !names.isFull) return [];
  if (names.isEmpty) names.add(lists[0]?.[0] ?? '');
  return reportTogether(names, TOO_MANY_NAMES);
}

/** Returns one entry for all names that are skipped for the same reason; empty without names. */
function reportTogether(names: LeftOutNames, reason: string): Unselected[] {
  if (names.isEmpty) return [];
  const { first: name, others } = names.listed;
  return [{ name, reason: names.reason(reason), ...(others.length === 0 ? undefined : { others }) }];
}

/** Which sets name what. */
class Memberships {
  readonly #owners = new Map<string, string[]>();
  /** Each set that was found, and the one that named it first. */
  readonly #sets = new Map<string, string | undefined>();

  add(name: string, owner: string | undefined): void {
    if (owner === undefined) return;
    const owners = this.#owners.get(name);
    if (owners === undefined) this.#owners.set(name, [owner]);
    else owners.push(owner);
  }

  addSet(name: string, owner: string | undefined): void {
    this.#sets.set(name, owner);
  }

  /** The sets that lead to none of the names, without those in such a set. */
  setsWithout(names: readonly string[]): string[] {
    if (this.#sets.size === 0) return [];
    const leading = new Set(names);
    for (const name of leading) for (const owner of this.#owners.get(name) ?? []) leading.add(owner);
    const isReported = ([name, owner]: [string, string | undefined]): boolean =>
      !leading.has(name) && (owner === undefined || leading.has(owner));
    return [...this.#sets].filter(isReported).map(([name]) => name);
  }
}

const inOrder = <H>(selected: [name: string, handler: H][]): [name: string, handler: H][] =>
  selected.sort(([a], [b]) => (a < b ? -1 : 1));

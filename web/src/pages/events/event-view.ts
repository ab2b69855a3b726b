import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { announcement } from '../../state/notices.ts';
import { SEVERITY, toneOf } from '../../components/status.tsx';
import { comparerOf, type EventFilter, groupOf, matcherOf, needsAll } from './event-filter.ts';
import { EventList } from './event-list.ts';
import { type EventKey, type EventRow, isProblem } from './event-row.ts';

/** What one line of the list shows. */
export type Line =
  | { type: 'row'; key: EventKey; row: EventRow }
  | { type: 'group'; name: string; count: number; worst: number; isClosed: boolean };

export interface EventView {
  list: EventList;
  lines: readonly Line[];
  /** The keys of the rows, in order. */
  keys: readonly EventKey[];
  /** Events that match and are not shown yet, so that no row moves. */
  pending: readonly EventKey[];
  showPending: () => void;
}

/** The shortest time between two announcements to screen readers. */
const ANNOUNCE_MS = 10_000;

/** Reads the events of a namespace and arranges those that a filter selects. Rows keep their places until the user asks. */
export function useEventView(namespace: string, filter: EventFilter, filterKey: string): EventView {
  const scope = needsAll(filter) ? 'all' : 'open';
  const list = useMemo(() => new EventList(namespace, scope), [namespace, scope]);
  useEffect(() => list.start(), [list]);
  const version = list.version.value;
  const isReading = list.state.value.isLoading;
  const [asked, setAsked] = useState(0);
  const order = useRef<{ of: string; keys: EventKey[]; isSettled: boolean }>({ of: '', keys: [], isSettled: false });

  const of = `${namespace} ${scope} ${filterKey} ${asked}`;
  const before = order.current;
  // The first reading arranges the rows as they come; later changes wait.
  if (before.of !== of || !before.isSettled || before.keys.length === 0) {
    order.current = { of, keys: arranged(list, filter), isSettled: !isReading };
  }
  const { keys } = order.current;
  const known = useMemo(() => new Set(keys), [keys]);
  const pending = useMemo(() => {
    const isMatch = matcherOf(filter);
    const found: EventKey[] = [];
    for (const [key, row] of list.rows) if (!known.has(key) && isMatch(row)) found.push(key);
    return found;
  }, [list, known, version, filterKey]);
  useAnnouncements(pending, list);

  const lines = useMemo(() => linesOf(keys, list, filter), [keys, version, filterKey]);
  return { list, lines, keys, pending, showPending: () => setAsked(asked + 1) };
}

/** The keys of the rows that a filter selects, in its order. */
function arranged(list: EventList, filter: EventFilter): EventKey[] {
  const [isMatch, compare] = [matcherOf(filter), comparerOf(filter)];
  return [...list.rows]
    .filter(([, row]) => isMatch(row))
    .sort(([, one], [, other]) => compare(one, other))
    .map(([key]) => key);
}

function linesOf(keys: readonly EventKey[], list: EventList, { group, isFolded, toggled }: EventFilter): Line[] {
  const rows: Line[] = [];
  for (const key of keys) {
    const row = list.rows.get(key);
    if (row !== undefined) rows.push({ type: 'row', key, row });
  }
  if (group === '') return rows;
  const groups = new Map<string, Line[]>();
  for (const line of rows) {
    if (line.type !== 'row') continue;
    const name = groupOf(line.row, group);
    const members = groups.get(name);
    if (members === undefined) groups.set(name, [line]);
    else members.push(line);
  }
  return [...groups].flatMap(([name, members]): Line[] => {
    const statuses = members.flatMap((line) => (line.type === 'row' ? [line.row.status] : []));
    const worst = statuses.reduce((one, other) => (SEVERITY[toneOf(other)] < SEVERITY[toneOf(one)] ? other : one), 0);
    const isClosed = toggled.has(name) !== isFolded;
    return [{ type: 'group', name, count: members.length, worst, isClosed }, ...(isClosed ? [] : members)];
  });
}

/** Announces new problems to screen readers, at most every ten seconds. */
function useAnnouncements(pending: readonly EventKey[], list: EventList): void {
  const last = useRef(-Infinity);
  const count = pending.length;
  useEffect(() => {
    if (count === 0) return undefined;
    const wait = Math.max(0, last.current + ANNOUNCE_MS - performance.now());
    const timer = setTimeout(() => {
      last.current = performance.now();
      const rows = pending.flatMap((key) => list.rows.get(key) ?? []);
      const critical = rows.filter((row) => isProblem(row) && toneOf(row.status) === 'critical').length;
      announcement.value =
        critical > 0
          ? `${critical} new critical ${critical === 1 ? 'event' : 'events'}`
          : `${count} new ${count === 1 ? 'event' : 'events'}`;
    }, wait);
    return () => clearTimeout(timer);
  }, [count]);
}

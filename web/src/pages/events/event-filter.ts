import { hasLabels } from '../../routing/label-query.ts';
import { SEVERITY, toneOf } from '../../components/status.tsx';
import { type EventRow, isProblem, keyOf } from './event-row.ts';

export const STATUSES = ['problems', 'critical', 'warning', 'unknown', 'passing', 'all'] as const;
export type StatusFilter = (typeof STATUSES)[number];
export const SORTS = ['severity', 'since', 'last', 'entity', 'check'] as const;
export type Sort = (typeof SORTS)[number];

/** The filter and the order of the list of events, as the address has them. */
export interface EventFilter {
  text: string;
  status: StatusFilter;
  silenced: 'any' | 'no' | 'only';
  /** `name=value` */
  labels: readonly string[];
  sort: Sort;
  isReversed: boolean;
  /** `entity`, `check`, `label:<name>`, or none. */
  group: string;
  /** Whether groups are closed unless the user opened them. */
  isFolded: boolean;
  /** The groups that are exceptions to `isFolded`. */
  toggled: ReadonlySet<string>;
}

const oneOf = <T extends string>(value: string | null, values: readonly T[], fallback: T): T =>
  values.find((one) => one === value) ?? fallback;

export function filterIn(query: URLSearchParams): EventFilter {
  const sort = query.get('sort') ?? '';
  return {
    text: query.get('q') ?? '',
    status: oneOf(query.get('status'), STATUSES, 'problems'),
    silenced: oneOf(query.get('silenced'), ['any', 'no', 'only'] as const, 'any'),
    labels: query.getAll('label'),
    sort: oneOf(sort.replace(/^-/, ''), SORTS, 'severity'),
    isReversed: sort.startsWith('-'),
    group: query.get('group') ?? '',
    isFolded: query.get('fold') === 'all',
    toggled: new Set(query.getAll('closed')),
  };
}

/** Whether the list needs events that pass. */
export const needsAll = ({ status }: EventFilter): boolean => status === 'all' || status === 'passing';

/** Returns the test of a filter. */
export function matcherOf({ text, status, silenced, labels }: EventFilter): (row: EventRow) => boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const isLabelled = hasLabels(labels);
  return (row) =>
    hasStatus(row, status) &&
    (silenced === 'any' || (silenced === 'only') === row.silenced.length > 0) &&
    isLabelled(row.labels) &&
    (words.length === 0 || includesAll(row, words));
}

function hasStatus(row: EventRow, status: StatusFilter): boolean {
  if (status === 'all') return true;
  if (status === 'problems') return isProblem(row);
  if (status === 'passing') return row.status === 0;
  return toneOf(row.status) === status;
}

/** The texts in which the search looks, by row. */
const TEXTS = new WeakMap<EventRow, string>();

function textOf(row: EventRow): string {
  const known = TEXTS.get(row);
  if (known !== undefined) return known;
  const { entity, check, output, labels } = row;
  const text = `${entity} ${check} ${output} ${Object.entries(labels).join(' ')}`.toLowerCase();
  TEXTS.set(row, text);
  return text;
}

const includesAll = (row: EventRow, words: readonly string[]): boolean => {
  const text = textOf(row);
  return words.every((word) => text.includes(word));
};

const byName = (one: EventRow, other: EventRow): number => (keyOf(one) < keyOf(other) ? -1 : 1);

const COMPARE: Record<Sort, (one: EventRow, other: EventRow) => number> = {
  severity: (one, other) =>
    Number(one.silenced.length > 0) - Number(other.silenced.length > 0) ||
    SEVERITY[toneOf(one.status)] - SEVERITY[toneOf(other.status)] ||
    (other.since ?? 0) - (one.since ?? 0),
  since: (one, other) => (other.since ?? 0) - (one.since ?? 0),
  last: (one, other) => other.last_at - one.last_at,
  entity: (one, other) => one.entity.localeCompare(other.entity),
  check: (one, other) => one.check.localeCompare(other.check),
};

export function comparerOf({ sort, isReversed }: EventFilter): (one: EventRow, other: EventRow) => number {
  const compare = COMPARE[sort];
  return (one, other) => (isReversed ? -1 : 1) * compare(one, other) || byName(one, other);
}

/** The group of a row. */
export function groupOf(row: EventRow, group: string): string {
  if (group === 'entity') return row.entity;
  if (group === 'check') return row.check;
  if (group.startsWith('label:')) return row.labels[group.slice('label:'.length)] ?? '(without the label)';
  return '';
}

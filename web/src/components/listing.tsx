import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { useRowKeys } from '../app/row-keys.ts';
import { hasLabels, labelsInQuery } from '../routing/label-query.ts';
import { navigate, query, setQuery } from '../routing/location.ts';
import type { Loader } from '../state/resource.ts';
import { withoutDeleted } from '../state/undo.ts';
import { ActiveLabels } from './chips.tsx';
import { SavedSearches } from './saved-searches.tsx';
import { SearchField } from './search-field.tsx';
import { Empty, Failure, Loading } from './states.tsx';
import { VirtualRows } from './virtual-rows.tsx';

export interface Column<T> {
  head: string;
  cell: (item: T) => ComponentChildren;
  /** The value by which the column is sorted; without it, the column cannot be sorted. */
  sort?: (item: T) => string | number;
  /** A CSS width; columns without one share the rest. */
  width?: string;
  /** Whether larger values come first. */
  isDescending?: boolean;
}

interface ListingProps<T> {
  title: string;
  /** The plural of the listed kind. */
  noun: string;
  loader: Loader<readonly T[]>;
  columns: readonly Column<T>[];
  keyOf: (item: T) => string;
  /** The text in which the search looks. */
  textOf: (item: T) => string;
  /** The path of an item in the API. What the user deleted is left out. */
  pathOf?: (item: T) => string;
  /** The address of an item, which `Enter` opens. */
  hrefOf?: (item: T) => string;
  /** The labels of an item, which the address can filter by. */
  labelsOf?: (item: T) => Readonly<Record<string, string>>;
  /** What keys do with the current item. */
  keys?: Readonly<Record<string, (item: T) => void>>;
  intro?: ComponentChildren;
  /** What is shown between the heading and the search. */
  lead?: ComponentChildren;
  actions?: ComponentChildren;
  /** Controls beside the search. */
  controls?: ComponentChildren;
  empty?: ComponentChildren;
  /** Whether it is a part of a page that has a heading already. */
  isPart?: boolean;
  rowHeight?: number;
}

const NARROW_CELL = 26;

/** A list with a search and sorted columns, whose state is in the address, and which the keyboard moves in. */
export function Listing<T extends object>(props: ListingProps<T>) {
  const { title, noun, loader, columns, keyOf, textOf, intro, actions, controls, empty, isPart = false } = props;
  const { data, error, isLoading } = withoutDeleted(loader.state.value, props.pathOf);
  const text = query.value.get('q') ?? '';
  const sort = query.value.get('sort') ?? '';
  const labels = props.labelsOf === undefined ? [] : labelsInQuery();
  const items = useMemo(
    () => arranged(labelled(data ?? [], labels, props.labelsOf), { text, sort, columns, textOf }),
    [data, text, sort, labels.join('\n')],
  );
  useEffect(() => warmed(data ?? [], textOf), [data]);
  const rowKeys = useMemo(() => items.map(keyOf), [items]);
  const itemOf = (key: string): T | undefined => items[rowKeys.indexOf(key)];
  const withItem = (act: (item: T) => void) => (key: string) => {
    const item = itemOf(key);
    if (item !== undefined) act(item);
  };
  const current = useRowKeys({
    keys: rowKeys,
    open: withItem((item) => props.hrefOf !== undefined && navigate(props.hrefOf(item))),
    actions: Object.fromEntries(Object.entries(props.keys ?? {}).map(([name, act]) => [name, withItem(act)])),
  });
  const Heading = isPart ? 'h2' : 'h1';
  const heights = { wide: props.rowHeight ?? 44, narrow: columns.length * NARROW_CELL + 28 };
  return (
    <>
      <div class="page-head">
        <Heading>{title}</Heading>
        <p data-count={items.length}>
          {data === undefined
            ? ''
            : `${items.length.toLocaleString()} ${items.length === 1 ? noun.replace(/ies$/, 'y').replace(/s$/, '') : noun}`}
          {intro !== undefined && <> · {intro}</>}
        </p>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </div>
      {props.lead}
      <div class="toolbar" role="search">
        <SearchField label={`Search ${noun}`} value={text} />
        <SavedSearches />
        {controls}
        <ActiveLabels labels={labels} />
      </div>
      {error !== undefined && data === undefined ? (
        <Failure title={`The ${noun} could not be read`} message={error} retry={loader.reload} />
      ) : data === undefined && isLoading ? (
        <Loading what={`Reading ${noun}`} />
      ) : items.length === 0 ? (
        text === '' && labels.length === 0 ? (
          (empty ?? <Empty title={`No ${noun}`} />)
        ) : (
          <Empty title={`No ${noun} match`}>
            <button type="button" onClick={() => setQuery({ q: '', label: '' })}>
              Clear the search
            </button>
          </Empty>
        )
      ) : (
        <VirtualRows
          label={title}
          kind="listing"
          items={items}
          heights={heights}
          columns={columns.length}
          visibleIndex={current === undefined ? undefined : rowKeys.indexOf(current)}
          head={<Head columns={columns} sort={sort} />}
          row={(item, index) => (
            <tr
              key={keyOf(item)}
              class={keyOf(item) === current ? 'row is-current' : 'row'}
              aria-current={keyOf(item) === current ? 'true' : undefined}
              data-key={keyOf(item)}
              aria-rowindex={index + 2}
              style={{ '--row': `${heights.wide}px`, '--card': `${heights.narrow - 8}px` }}
            >
              {columns.map(({ head, cell }) => (
                <td key={head} data-head={head}>
                  <div class="cell">{cell(item)}</div>
                </td>
              ))}
            </tr>
          )}
        />
      )}
    </>
  );
}

function Head<T>({ columns, sort }: { columns: readonly Column<T>[]; sort: string }) {
  return (
    <tr>
      {columns.map(({ head, sort: by, width }) => {
        const direction = sort === head ? 'ascending' : sort === `-${head}` ? 'descending' : 'none';
        const next = direction === 'none' ? head : direction === 'ascending' ? `-${head}` : '';
        return (
          <th key={head} scope="col" style={{ width }} aria-sort={by === undefined ? undefined : direction}>
            {by === undefined ? (
              head
            ) : (
              <button type="button" class="sort" onClick={() => setQuery({ sort: next })}>
                {head}
                <span aria-hidden="true">
                  {direction === 'ascending' ? ' ↑' : direction === 'descending' ? ' ↓' : ''}
                </span>
              </button>
            )}
          </th>
        );
      })}
    </tr>
  );
}

/** The texts in which the search looks, by item. */
const TEXTS = new WeakMap<object, string>();

function searchedText<T extends object>(item: T, textOf: (item: T) => string): string {
  const known = TEXTS.get(item);
  if (known !== undefined) return known;
  const text = textOf(item).toLowerCase();
  TEXTS.set(item, text);
  return text;
}

/** Items whose texts are made in one task. */
const WARMED_AT_ONCE = 500;

/** Builds the texts of a long list before the user searches, in short tasks. Returns a function that stops this. */
function warmed<T extends object>(items: readonly T[], textOf: (item: T) => string): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const warm = (start: number): void => {
    for (const item of items.slice(start, start + WARMED_AT_ONCE)) searchedText(item, textOf);
    if (start + WARMED_AT_ONCE < items.length) timer = setTimeout(warm, 0, start + WARMED_AT_ONCE);
  };
  timer = setTimeout(warm, 0, 0);
  return () => clearTimeout(timer);
}

function labelled<T extends object>(
  items: readonly T[],
  labels: readonly string[],
  labelsOf: ((item: T) => Readonly<Record<string, string>>) | undefined,
): readonly T[] {
  if (labels.length === 0 || labelsOf === undefined) return items;
  const isMatch = hasLabels(labels);
  return items.filter((item) => isMatch(labelsOf(item)));
}

interface Arrangement<T> {
  text: string;
  sort: string;
  columns: readonly Column<T>[];
  textOf: (item: T) => string;
}

function arranged<T extends object>(
  items: readonly T[],
  { text, sort, columns, textOf }: Arrangement<T>,
): readonly T[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found =
    words.length === 0
      ? items
      : items.filter((item) => {
          const all = searchedText(item, textOf);
          return words.every((word) => all.includes(word));
        });
  const column = columns.find(({ head }) => head === sort.replace(/^-/, ''));
  const by = column?.sort;
  if (by === undefined) return found;
  const sign = sort.startsWith('-') !== (column?.isDescending ?? false) ? -1 : 1;
  return found.toSorted((one, other) => {
    const [a, b] = [by(one), by(other)];
    return sign * (a < b ? -1 : a > b ? 1 : 0);
  });
}

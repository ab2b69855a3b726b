import { InvalidResource } from '../../resources/errors.ts';
import { selectable, type SelectableKind } from '../../rules/selectable-fields.ts';
import { parseSelector, type Selector } from '../../rules/selectors.ts';
import { keyAfter } from '../../store/encoding/keyspace.ts';
import type { LazyPage, PageRequest } from '../../store/page.ts';
import { listAnswer, pageRequest } from './pagination.ts';
import { TimeSlices } from './time-slices.ts';
import type { Answer, RouteRequest } from '../request/route.ts';

/** Objects whose keys are read at once. */
const BATCH_SIZE = 64;

export type List<T> = (page: PageRequest) => LazyPage<T>;

/** The query of a list request, and whether its client is still connected. */
export type ListRequest = Pick<RouteRequest, 'query' | 'isDisconnected'>;

/** A page that shows the selected items only. */
export interface SelectedPage<T> extends LazyPage<T> {
  /** Undefined selects all items. */
  isSelected: ((item: T) => boolean) | undefined;
}

/**
 * Responds with the items that `limit`, `continue`, `fieldSelector` and `labelSelector` select.
 * @throws InvalidResource
 */
export async function selectedList<T extends object>(
  kind: SelectableKind,
  request: ListRequest,
  list: List<T>,
): Promise<Answer> {
  const { items, lastKey, isSelected } = await selectedPage(kind, request, list);
  return listAnswer(items, lastKey, isSelected);
}

/**
 * Selects a page of the objects that match the query and pass `isVisible`. The page ends with the last object within
 * its limit, so objects after it are not examined.
 * @throws InvalidResource
 */
export async function selectedPage<T extends object>(
  kind: SelectableKind,
  { query, isDisconnected }: ListRequest,
  list: List<T>,
  isVisible?: (item: T) => boolean,
): Promise<SelectedPage<T>> {
  const page = pageRequest(query);
  const isSelected = both(isVisible, selectionOf(kind, query));
  if (isSelected === undefined || page.limit === undefined) return { ...list(page), isSelected };
  const selection = { count: page.limit, isSelected, isDisconnected };
  return { ...list(await locatePage(selection, page.from, list)), isSelected };
}

function both<T>(
  one: ((item: T) => boolean) | undefined,
  other: ((item: T) => boolean) | undefined,
): ((item: T) => boolean) | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return (item) => one(item) && other(item);
}

/** Undefined when the query has no selector. @throws InvalidResource for a malformed selector */
export function selectionOf(kind: SelectableKind, query: URLSearchParams): ((item: object) => boolean) | undefined {
  const [byField, byLabel] = [selectorIn(query, 'fieldSelector'), selectorIn(query, 'labelSelector')];
  if (byField === undefined && byLabel === undefined) return undefined;
  return (item) => {
    const { fields, labels } = selectable(kind, item);
    return byField?.(fields) !== false && byLabel?.(labels) !== false;
  };
}

/** Parses the selectors of a parameter, which must all match, as one. */
function selectorIn(query: URLSearchParams, parameter: 'fieldSelector' | 'labelSelector'): Selector | undefined {
  const sources = query.getAll(parameter).filter((source) => source.trim() !== '');
  try {
    return sources.length === 0 ? undefined : parseSelector(sources.join(' && '));
  } catch (cause) {
    if (!(cause instanceof InvalidResource)) throw cause;
    throw new InvalidResource(`failed to parse ${parameter}`, { cause });
  }
}

interface PageSelection<T> {
  count: number;
  isSelected: (item: T) => boolean;
  isDisconnected(): boolean;
}

/**
 * Finds a page with `count` selected objects, starting near the first of them; the page has no limit when there are
 * fewer. Stops at an arbitrary page once the client has disconnected. Yields to other work.
 */
async function locatePage<T extends object>(
  { count, isSelected, isDisconnected }: PageSelection<T>,
  from: string | undefined,
  list: List<T>,
): Promise<PageRequest> {
  const slices = new TimeSlices();
  let found = 0;
  let page = { from, limit: 0 };
  for (let start = from; ;) {
    const { items, lastKey } = list({ limit: BATCH_SIZE, from: start });
    if (found === 0) page = { from: start, limit: 0 };
    for (const item of items) {
      page.limit += 1;
      if (isSelected(item)) found += 1;
      if (found === count) return page;
      await slices.pause();
      if (isDisconnected()) return { from: start, limit: 1 };
    }
    if (lastKey === undefined) return { from: page.from };
    start = keyAfter(lastKey);
  }
}

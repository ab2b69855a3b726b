import { setImmediate as nextTurn } from 'node:timers/promises';
import { InvalidResource } from '../../resources/errors.ts';
import { selectable, type SelectableKind } from '../../rules/selectable-fields.ts';
import { parseSelector, type Selector } from '../../rules/selectors.ts';
import type { LazyPage, PageRequest } from '../../store/page.ts';
import { listAnswer, NUL, pageRequest } from './pagination.ts';
import type { Answer, RouteRequest } from '../request/route.ts';

/** Objects that are looked at in one turn. */
const EXAMINED_AT_ONCE = 64;

export type List<T> = (page: PageRequest) => LazyPage<T>;

/** What is asked of a list, and whether that still matters. */
export type ListRequest = Pick<RouteRequest, 'query' | 'isGone'>;

/** A page of which only some are shown. */
export interface SelectedPage<T> extends LazyPage<T> {
  /** Undefined = all. */
  isSelected: ((item: T) => boolean) | undefined;
}

/** What `limit`, `continue`, `fieldSelector` and `labelSelector` leave of a list. @throws InvalidResource */
export async function selectedList<T extends object>(
  kind: SelectableKind,
  request: ListRequest,
  list: List<T>,
): Promise<Answer> {
  const { items, lastKey, isSelected } = await selectedPage(kind, request, list);
  return listAnswer(items, lastKey, isSelected);
}

/**
 * The same before it is an answer, of the objects that `isVisible` lets the caller see. A page ends with the last object that its
 * limit lets in: to look at what lies before that is all it costs. @throws InvalidResource
 */
export async function selectedPage<T extends object>(
  kind: SelectableKind,
  { query, isGone }: ListRequest,
  list: List<T>,
  isVisible?: (item: T) => boolean,
): Promise<SelectedPage<T>> {
  const page = pageRequest(query);
  const isSelected = both(isVisible, selectionOf(kind, query));
  if (isSelected === undefined || page.limit === undefined) return { ...list(page), isSelected };
  const wanted = { count: page.limit, isSelected, isGone };
  return { ...list(await extentOf(wanted, page.from, list)), isSelected };
}

function both<T>(
  one: ((item: T) => boolean) | undefined,
  other: ((item: T) => boolean) | undefined,
): ((item: T) => boolean) | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return (item) => one(item) && other(item);
}

/** Undefined = all are asked for. @throws InvalidResource for what is no selector */
export function selectionOf(kind: SelectableKind, query: URLSearchParams): ((item: object) => boolean) | undefined {
  const [byField, byLabel] = [selectorsIn(query, 'fieldSelector'), selectorsIn(query, 'labelSelector')];
  if (byField.length === 0 && byLabel.length === 0) return undefined;
  return (item) => {
    const { fields, labels } = selectable(kind, item);
    return byField.every((selects) => selects(fields)) && byLabel.every((selects) => selects(labels));
  };
}

/** All of them must hold. */
function selectorsIn(query: URLSearchParams, parameter: 'fieldSelector' | 'labelSelector'): Selector[] {
  const sources = query.getAll(parameter).filter((source) => source.trim() !== '');
  try {
    return sources.map(parseSelector);
  } catch (cause) {
    if (!(cause instanceof InvalidResource)) throw cause;
    throw new InvalidResource(`failed to parse ${parameter}`, { cause });
  }
}

interface Wanted<T> {
  count: number;
  isSelected: (item: T) => boolean;
  isGone(): boolean;
}

/**
 * Where a page of so many selected objects lies, which begins near the first of them; without a limit when there are not so many,
 * and anywhere when nobody waits for it any more. Others have their turns meanwhile.
 */
async function extentOf<T extends object>(
  { count, isSelected, isGone }: Wanted<T>,
  from: string | undefined,
  list: List<T>,
): Promise<PageRequest> {
  let found = 0;
  let page = { from, limit: 0 };
  for (let start = from; ;) {
    const { items, lastKey } = list({ limit: EXAMINED_AT_ONCE, from: start });
    if (found === 0) page = { from: start, limit: 0 };
    for (const item of items) {
      page.limit += 1;
      if (isSelected(item)) found += 1;
      if (found === count) return page;
    }
    if (lastKey === undefined) return { from: page.from };
    start = lastKey + NUL;
    await nextTurn();
    if (isGone()) return { from: start, limit: 1 };
  }
}

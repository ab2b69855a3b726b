import { InvalidResource } from './errors.ts';

/** Items of a list of names or rules that is searched or validated for each event. */
const MAX_LIST_ITEMS = 1_000;

type Lists<F extends string> = { readonly [K in F]?: readonly unknown[] | null | undefined };

const OF_ENTITY = ['subscriptions', 'redact', 'keepalive_handlers'] as const;
/** `handlers` has a bound of its own, beyond which handlers are skipped and recorded. */
const OF_CHECK = [
  'subscriptions',
  'runtime_assets',
  'check_hooks',
  'env_vars',
  'pipelines',
  'subdues',
  'output_metric_handlers',
  'output_metric_tags',
  'output_metric_thresholds',
  'secrets',
] as const;
const OF_EVENT_CHECK = [...OF_CHECK, 'hooks'] as const;
const OF_EVENT = ['pipelines'] as const;

/** @throws InvalidResource that names the list */
export const assertEntityLists = (entity: Lists<(typeof OF_ENTITY)[number]>): void => assertBounds(entity, OF_ENTITY);

/** @throws InvalidResource that names the list */
export const assertCheckLists = (check: Lists<(typeof OF_CHECK)[number]>): void => assertBounds(check, OF_CHECK);

/** @throws InvalidResource that names the list */
export const assertEventCheckLists = (check: Lists<(typeof OF_EVENT_CHECK)[number]>): void =>
  assertBounds(check, OF_EVENT_CHECK);

/** @throws InvalidResource that names the list */
export const assertEventLists = (event: Lists<(typeof OF_EVENT)[number]>): void => assertBounds(event, OF_EVENT);

/** Returns the first items, as many as a list may have. A list that was stored before the bound can have more. */
export const withinListBounds = <T>(list: T[]): T[] =>
  list.length > MAX_LIST_ITEMS ? list.slice(0, MAX_LIST_ITEMS) : list;

function assertBounds<F extends string>(lists: Lists<F>, fields: readonly F[]): void {
  for (const field of fields) {
    if ((lists[field]?.length ?? 0) > MAX_LIST_ITEMS) {
      throw new InvalidResource(`${field} must have at most ${MAX_LIST_ITEMS} items`);
    }
  }
}

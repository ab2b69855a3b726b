import { InvalidResource } from './errors.ts';

/** Items of a list of names or rules that is searched or validated for each event. */
const MAX_LIST_ITEMS = 1_000;

type List = readonly unknown[] | null | undefined;
type Lists<F extends string> = { readonly [K in F]?: List };

/** `handlers` has a bound of its own, beyond which handlers are skipped and recorded. */
type OfCheck =
  | 'subscriptions'
  | 'runtime_assets'
  | 'check_hooks'
  | 'env_vars'
  | 'pipelines'
  | 'subdues'
  | 'output_metric_handlers'
  | 'output_metric_tags'
  | 'output_metric_thresholds'
  | 'secrets';

/** @throws InvalidResource that names the list */
export function assertEntityLists(entity: Lists<'subscriptions' | 'redact' | 'keepalive_handlers'>): void {
  assertBound('subscriptions', entity.subscriptions);
  assertBound('redact', entity.redact);
  assertBound('keepalive_handlers', entity.keepalive_handlers);
}

/** @throws InvalidResource that names the list. A loop over the names would take V8 longer, and this runs for each event. */
export function assertCheckLists(check: Lists<OfCheck>): void {
  assertBound('subscriptions', check.subscriptions);
  assertBound('runtime_assets', check.runtime_assets);
  assertBound('check_hooks', check.check_hooks);
  assertBound('env_vars', check.env_vars);
  assertBound('pipelines', check.pipelines);
  assertBound('subdues', check.subdues);
  assertBound('output_metric_handlers', check.output_metric_handlers);
  assertBound('output_metric_tags', check.output_metric_tags);
  assertBound('output_metric_thresholds', check.output_metric_thresholds);
  assertBound('secrets', check.secrets);
}

/** @throws InvalidResource that names the list */
export function assertEventCheckLists(check: Lists<OfCheck | 'hooks'>): void {
  assertCheckLists(check);
  assertBound('hooks', check.hooks);
}

/** @throws InvalidResource that names the list */
export const assertEventLists = (event: Lists<'pipelines'>): void => assertBound('pipelines', event.pipelines);

/** Returns the first items, as many as a list may have. A list that was stored before the bound can have more. */
export const withinListBounds = <T>(list: T[]): T[] =>
  list.length > MAX_LIST_ITEMS ? list.slice(0, MAX_LIST_ITEMS) : list;

function assertBound(name: string, list: List): void {
  if (list && list.length > MAX_LIST_ITEMS) {
    throw new InvalidResource(`${name} must have at most ${MAX_LIST_ITEMS} items`);
  }
}

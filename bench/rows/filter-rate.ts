import type { Row } from '../support/measured.ts';
import { runWorker } from '../support/workers.ts';
import type { FilterRates } from '../workers/filter-load.ts';

/** Filters: decisions per second about an event of 2 KB, by what its expression needs. */
export async function filterRate(): Promise<Row[]> {
  const { inThread, afresh, echoed, simple, plain } = await runWorker<FilterRates>('filter-load', {});
  return [
    {
      id: 'filters',
      what: 'filter with a pattern, one thread; limit: a thread that echoes',
      unit: '/s',
      value: inThread,
      rawLimit: echoed,
      floor: 9_000,
    },
    {
      id: 'filters',
      what: 'filter that declares a variable, one thread; limit: the same',
      unit: '/s',
      value: afresh,
      rawLimit: echoed,
      floor: 500,
    },
    {
      id: 'filters',
      what: 'filter that needs no thread; limit: plain JavaScript',
      unit: '/s',
      value: simple,
      rawLimit: plain,
      floor: 100_000,
    },
  ];
}

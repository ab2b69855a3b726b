import { type Checkout, HERE } from '../support/checkout.ts';
import type { MachineLimits, Row } from '../support/measured.ts';
import type { PageStats } from '../workers/page-reader.ts';
import type { RawPage } from '../workers/raw-page.ts';
import { type Pages, pagesUnderLoad, readPages } from './pages-under-load.ts';
import { CHECKS_PER_ENTITY, STORED_ENTITIES, withSeededState } from './stored-state.ts';
import { type BenchedBackend, withBackend } from '../support/benched-backend.ts';
import { runWorker } from '../support/workers.ts';

const ITEMS = 100;
const QUERY = `limit=${ITEMS}`;
const PATHS = [`/api/core/v2/events?${QUERY}`, `/api/core/v2/namespaces/default/events?${QUERY}`];
/** PUT/s offered during the measurement, on the machine of the floors. */
const OFFERED_PER_S = 4_000;
const KEYS = { prefix: 'bench-', entities: 1_000, stride: 1, checks: ['check-0', 'check-1'] };

/** Runs with a backend of a checkout that has 100,000 events, and with the first pages of them. */
function withFirstPages<T>(use: (backend: BenchedBackend, pages: Pages) => Promise<T>, checkout = HERE): Promise<T> {
  return withSeededState(
    STORED_ENTITIES,
    (stateDir) =>
      withBackend((backend) => use(backend, { port: backend.api, paths: PATHS, items: ITEMS }), { stateDir, checkout }),
    checkout,
  );
}

const underLoad = (backend: BenchedBackend, pages: Pages, perSecond: number): Promise<PageStats> =>
  pagesUnderLoad(backend, pages, { keys: KEYS, perSecond });

/** Reads first pages, first without other load and then while the backend accepts PUTs. */
export function firstPages(perSecond: number, checkout: Checkout): Promise<{ alone: PageStats; loaded: PageStats }> {
  return withFirstPages(
    async (backend, pages) => ({
      alone: await readPages(backend, pages),
      loaded: await underLoad(backend, pages, perSecond),
    }),
    checkout,
  );
}

/** G10: the first page of a long list of events, under a constant load. */
export async function firstPage({ scale }: MachineLimits): Promise<Row[]> {
  const perSecond = OFFERED_PER_S * scale;
  const records = STORED_ENTITIES * CHECKS_PER_ENTITY;
  const raw: RawPage = { records, items: ITEMS };
  const rawLimit = await runWorker<number>('raw-page', raw);
  const { p99Ms } = await withFirstPages((backend, pages) => underLoad(backend, pages, perSecond));
  return [
    {
      id: 'G10',
      what: `first ${ITEMS} of ${records.toLocaleString('en')} events under ${perSecond.toFixed(0)} PUT/s, p99; limit: bare LMDB and JSON`,
      unit: 'ms',
      value: p99Ms,
      rawLimit,
      floor: 30,
      isCost: true,
      isFixed: true,
    },
  ];
}

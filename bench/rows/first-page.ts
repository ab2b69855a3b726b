import { HERE } from '../support/checkout.ts';
import type { MachineLimits, Row } from '../support/measured.ts';
import type { PageStats } from '../workers/page-reader.ts';
import type { RawPage } from '../workers/raw-page.ts';
import { pagesUnderLoad } from './pages-under-load.ts';
import { CHECKS_PER_ENTITY, STORED_ENTITIES, withSeededState } from './stored-state.ts';
import { withBackend } from '../support/benched-backend.ts';
import { runWorker } from '../support/workers.ts';

const ITEMS = 100;
const QUERY = `limit=${ITEMS}`;
const PATHS = [`/api/core/v2/events?${QUERY}`, `/api/core/v2/namespaces/default/events?${QUERY}`];
/** PUT/s offered during the measurement, on the machine of the floors. */
const OFFERED_PER_S = 4_000;
const KEYS = { prefix: 'bench-', entities: 1_000, stride: 1, checks: ['check-0', 'check-1'] };

/** Reads first pages of 100,000 events while the backend of a checkout accepts PUTs. */
export function firstPagesUnderLoad(perSecond: number, checkout = HERE): Promise<PageStats> {
  const underLoad = (stateDir: string) =>
    withBackend(
      (backend) =>
        pagesUnderLoad(backend, { port: backend.api, paths: PATHS, items: ITEMS }, { keys: KEYS, perSecond }),
      { stateDir, checkout },
    );
  return withSeededState(STORED_ENTITIES, underLoad, checkout);
}

/** G10: the first page of a long list of events, under a constant load. */
export async function firstPage({ scale }: MachineLimits): Promise<Row[]> {
  const perSecond = OFFERED_PER_S * scale;
  const records = STORED_ENTITIES * CHECKS_PER_ENTITY;
  const raw: RawPage = { records, items: ITEMS };
  const rawLimit = await runWorker<number>('raw-page', raw);
  const { p99Ms } = await firstPagesUnderLoad(perSecond);
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

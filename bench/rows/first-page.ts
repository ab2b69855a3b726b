import type { MachineLimits, Row } from '../support/measured.ts';
import type { RawPage } from '../workers/raw-page.ts';
import { pagesUnderLoad } from './pages-under-load.ts';
import { CHECKS_PER_ENTITY, withSeededState } from './stored-state.ts';
import { withBackend } from '../support/benched-backend.ts';
import { runWorker } from '../support/workers.ts';

const ENTITIES = 50_000;
const ITEMS = 100;
const QUERY = `limit=${ITEMS}`;
const PATHS = [`/api/core/v2/events?${QUERY}`, `/api/core/v2/namespaces/default/events?${QUERY}`];
/** PUT/s offered during the measurement, on the machine of the floors. */
const OFFERED_PER_S = 4_000;
const KEYS = { prefix: 'bench-', entities: 1_000, stride: 1, checks: ['check-0', 'check-1'] };

/** G10: the first page of a long list of events, under a constant load. */
export async function firstPage({ scale }: MachineLimits): Promise<Row[]> {
  const perSecond = OFFERED_PER_S * scale;
  const records = ENTITIES * CHECKS_PER_ENTITY;
  const raw: RawPage = { records, items: ITEMS };
  const rawLimit = await runWorker<number>('raw-page', raw);
  const { p99Ms } = await withSeededState(ENTITIES, (stateDir) =>
    withBackend(
      (backend) =>
        pagesUnderLoad(backend, { port: backend.api, paths: PATHS, items: ITEMS }, { keys: KEYS, perSecond }),
      { stateDir },
    ),
  );
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

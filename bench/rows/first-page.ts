import type { MachineLimits, Row } from '../support/measured.ts';
import type { PageStats, PageReader } from '../workers/page-reader.ts';
import type { RawPage } from '../workers/raw-page.ts';
import { putEvents } from './rest-put.ts';
import { CHECKS_PER_ENTITY, withSeededState } from './stored-state.ts';
import { type BenchedBackend, withBackend } from '../support/benched-backend.ts';
import { runWorker } from '../support/workers.ts';

const ENTITIES = 50_000;
const ITEMS = 100;
const QUERY = `limit=${ITEMS}`;
const PATHS = [`/api/core/v2/events?${QUERY}`, `/api/core/v2/namespaces/default/events?${QUERY}`];
const PAGES_PER_S = 20;
/** PUT/s offered during the measurement, on the machine of the floors. */
const OFFERED_PER_S = 4_000;
/** The least share of the offered load that must be accepted. */
const MIN_REACHED = 0.95;
const UNTIL = { warmUpSeconds: 3, seconds: 20 };
const KEYS = { prefix: 'bench-', entities: 1_000, stride: 1, checks: ['check-0', 'check-1'] };

/** @throws Error if the backend did not accept the load */
async function underLoad(backend: BenchedBackend, perSecond: number): Promise<PageStats> {
  const reader: PageReader = {
    port: backend.api,
    authorization: await backend.authorization(),
    paths: PATHS,
    items: ITEMS,
    perSecond: PAGES_PER_S,
    ...UNTIL,
  };
  const [{ perSecond: reached }, stats] = await Promise.all([
    putEvents(backend, { keys: KEYS, ttl: 0, until: UNTIL, perSecond }),
    runWorker<PageStats>('page-reader', reader),
  ]);
  if (reached < MIN_REACHED * perSecond) {
    throw new Error(`${reached.toFixed(0)} PUT/s were accepted instead of ${perSecond.toFixed(0)}`);
  }
  return stats;
}

/** G10: the first page of a long list of events, under a constant load. */
export async function firstPage({ scale }: MachineLimits): Promise<Row[]> {
  const perSecond = OFFERED_PER_S * scale;
  const records = ENTITIES * CHECKS_PER_ENTITY;
  const raw: RawPage = { records, items: ITEMS };
  const rawLimit = await runWorker<number>('raw-page', raw);
  const { p99Ms } = await withSeededState(ENTITIES, (stateDir) =>
    withBackend((backend) => underLoad(backend, perSecond), stateDir),
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

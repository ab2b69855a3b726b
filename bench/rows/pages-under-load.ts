import type { BenchedBackend } from '../support/benched-backend.ts';
import { runWorker } from '../support/workers.ts';
import type { HttpLoad } from '../workers/http-load.ts';
import type { PageReader, PageStats } from '../workers/page-reader.ts';
import { putEvents } from './rest-put.ts';

const READS_PER_S = 20;
/** The least share of the offered load that must be accepted. */
const MIN_REACHED = 0.95;
const UNTIL = { warmUpSeconds: 3, seconds: 20 };

export type Pages = Pick<PageReader, 'port' | 'paths' | 'items'>;

/** Reads pages at a constant rate. */
export async function readPages(backend: BenchedBackend, pages: Pages): Promise<PageStats> {
  const authorization = await backend.authorization();
  return runWorker<PageStats>('page-reader', { ...pages, authorization, perSecond: READS_PER_S, ...UNTIL });
}

/** Reads pages at a constant rate while events are put. @throws Error if the backend did not accept the load */
export async function pagesUnderLoad(
  backend: BenchedBackend,
  pages: Pages,
  load: Pick<HttpLoad, 'keys'> & { perSecond: number },
): Promise<PageStats> {
  const [{ perSecond: reached }, stats] = await Promise.all([
    putEvents(backend, { ...load, ttl: 0, until: UNTIL }),
    readPages(backend, pages),
  ]);
  if (reached < MIN_REACHED * load.perSecond) {
    throw new Error(`${reached.toFixed(0)} PUT/s were accepted instead of ${load.perSecond.toFixed(0)}`);
  }
  return stats;
}

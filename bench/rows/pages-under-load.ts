import type { BenchedBackend } from '../support/benched-backend.ts';
import { runWorker } from '../support/workers.ts';
import type { HttpLoad } from '../workers/http-load.ts';
import type { PageReader, PageStats } from '../workers/page-reader.ts';
import { putEvents } from './rest-put.ts';

const READS_PER_S = 20;
/** The least share of the offered load that must be accepted. */
const MIN_REACHED = 0.95;
const UNTIL = { warmUpSeconds: 3, seconds: 20 };

/** Reads pages at a constant rate while events are put. @throws Error if the backend did not accept the load */
export async function pagesUnderLoad(
  backend: BenchedBackend,
  pages: Pick<PageReader, 'port' | 'paths' | 'items'>,
  load: Pick<HttpLoad, 'keys'> & { perSecond: number },
): Promise<PageStats> {
  const authorization = await backend.authorization();
  const reader: PageReader = { ...pages, authorization, perSecond: READS_PER_S, ...UNTIL };
  const [{ perSecond: reached }, stats] = await Promise.all([
    putEvents(backend, { ...load, ttl: 0, until: UNTIL }),
    runWorker<PageStats>('page-reader', reader),
  ]);
  if (reached < MIN_REACHED * load.perSecond) {
    throw new Error(`${reached.toFixed(0)} PUT/s were accepted instead of ${load.perSecond.toFixed(0)}`);
  }
  return stats;
}

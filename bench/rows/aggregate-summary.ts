import { type BenchedBackend, withBackend } from '../support/benched-backend.ts';
import { type MachineLimits, percentile, type Row } from '../support/measured.ts';
import type { PageStats } from '../workers/page-reader.ts';
import { pagesUnderLoad } from './pages-under-load.ts';
import { putEvents } from './rest-put.ts';

const CLIENTS = 1_000;
const CHECKS = Array.from({ length: 20 }, (_, index) => `check-${index}`);
const AGGREGATE = 'bench';
const KEYS = { prefix: 'bench-', entities: CLIENTS, stride: 1, checks: CHECKS };
/** PUT/s offered during the measurement, on the machine of the floors. */
const OFFERED_PER_S = 4_000;
const RAW_ROUNDS = 500;

/** Creates checks whose results join the aggregate. */
async function createChecks({ api, authorization }: BenchedBackend): Promise<void> {
  const headers = { Authorization: await authorization(), 'Content-Type': 'application/json' };
  for (const name of CHECKS) {
    const path = `/api/core/v2/namespaces/default/checks/${name}`;
    const metadata = { name, namespace: 'default' };
    const check = { metadata, command: 'true', interval: 60, publish: false, aggregate: AGGREGATE };
    const { status } = await fetch(`http://127.0.0.1:${api}${path}`, {
      method: 'PUT',
      headers,
      body: JSON.stringify(check),
    });
    if (status !== 201) throw new Error(`the check ${name} was answered with ${status}`);
  }
}

/** Reads summaries while results of the members arrive. */
async function underLoad(backend: BenchedBackend, perSecond: number): Promise<PageStats> {
  await createChecks(backend);
  await putEvents(backend, { keys: KEYS, ttl: 0, until: 'each key once' });
  const paths = [`/aggregates/${AGGREGATE}`, `/aggregates/${AGGREGATE}?max_age=3600`];
  return pagesUnderLoad(backend, { port: backend.legacyApi, paths, items: CLIENTS }, { keys: KEYS, perSecond });
}

/** The time, p99 in milliseconds, to count the results of a bare list. */
function rawSummaryMs(): number {
  const results = Array.from({ length: CLIENTS * CHECKS.length }, (_, index) => ({
    client: index % CLIENTS,
    status: 0,
  }));
  const latenciesMs: number[] = [];
  for (let round = 0; round < RAW_ROUNDS; round += 1) {
    const beganAt = performance.now();
    const clients = new Set<number>();
    const statuses: Record<number, number> = {};
    for (const { client, status } of results) {
      clients.add(client);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
    if (clients.size !== CLIENTS || statuses[0] !== results.length) throw new Error('the summary was incomplete');
    latenciesMs.push(performance.now() - beganAt);
  }
  latenciesMs.sort((a, b) => a - b);
  return percentile(latenciesMs, 0.99);
}

/** The summary of a large aggregate, under a constant load of its own results. */
export async function aggregateSummary({ scale }: MachineLimits): Promise<Row[]> {
  const perSecond = OFFERED_PER_S * scale;
  const { p99Ms } = await withBackend((backend) => underLoad(backend, perSecond));
  return [
    {
      id: 'aggregates',
      what: `summary of ${CLIENTS.toLocaleString('en')} clients and ${CHECKS.length} checks under ${perSecond.toFixed(0)} PUT/s, p99; limit: a bare list`,
      unit: 'ms',
      value: p99Ms,
      rawLimit: rawSummaryMs(),
      floor: 20,
      isCost: true,
      isFixed: true,
    },
  ];
}

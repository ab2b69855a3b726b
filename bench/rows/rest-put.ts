import { type BenchedBackend, withBackend } from '../support/benched-backend.ts';
import type { HttpLoad, HttpLoadResult, PutKeys } from '../workers/http-load.ts';
import type { MachineLimits, Row } from '../support/measured.ts';
import { nextMessage, runWorker, startWorker } from '../support/workers.ts';

const CONNECTIONS = 64;
const UNTIL = { warmUpSeconds: 3, seconds: 10 };
export const KEYS: PutKeys = {
  prefix: 'bench-',
  entities: 100,
  stride: 1,
  checks: Array.from({ length: 100 }, (_, index) => `check-${index}`),
};

/** Sends PUTs to a backend. @throws Error if one of them was not answered with 200 */
export async function putEvents(
  backend: BenchedBackend,
  load: Pick<HttpLoad, 'keys' | 'ttl'> & Partial<HttpLoad>,
): Promise<HttpLoadResult> {
  const authorization = await backend.authorization();
  const whole: HttpLoad = { port: backend.api, connections: CONNECTIONS, until: UNTIL, authorization, ...load };
  const result = await runWorker<HttpLoadResult>('http-load', whole);
  if (result.failures > 0) throw new Error(`${result.failures} PUTs were not answered 200`);
  return result;
}

/** The rate of a bare server that stores each body durably: the reference for this machine. */
export async function bareLimit(): Promise<HttpLoadResult> {
  const bare = startWorker('bare-server', {});
  const port = await nextMessage<number>(bare);
  const load: HttpLoad = {
    port,
    connections: CONNECTIONS,
    until: UNTIL,
    authorization: 'none',
    keys: KEYS,
    ttl: 0,
  };
  try {
    return await runWorker<HttpLoadResult>('http-load', load);
  } finally {
    bare.disconnect();
  }
}

/** G1: PUT of one event, full processing, durable before 200. */
export async function restPut({ bare }: MachineLimits): Promise<Row[]> {
  const { perSecond, p99Ms } = await withBackend((backend) => putEvents(backend, { keys: KEYS, ttl: 0 }));
  return [
    {
      id: 'G1',
      what: 'REST PUT of one event, durable; limit: bare node:http and LMDB',
      unit: '/s',
      value: perSecond,
      rawLimit: bare.perSecond,
      floor: 8_000,
    },
    { id: 'G1', what: 'the same, p99', unit: 'ms', value: p99Ms, rawLimit: bare.p99Ms, floor: 25, isCost: true },
  ];
}

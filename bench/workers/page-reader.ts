import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { percentile } from '../support/measured.ts';

/** Requests the paths in rotation at a constant rate. */
export interface PageReader {
  port: number;
  authorization: string;
  paths: readonly string[];
  /** Items that every page must have; of a summary of an aggregate its clients. */
  items: number;
  perSecond: number;
  warmUpSeconds: number;
  seconds: number;
}

/** Percentiles of the time from when a request was due to its answer, so that a late answer does not hide others. */
export interface PageStats {
  p50Ms: number;
  p99Ms: number;
  pages: number;
}

const { port, authorization, paths, items, perSecond, warmUpSeconds, seconds } = JSON.parse(
  process.argv[2] ?? '{}',
) as PageReader;
const connections = new Agent({ keepAlive: true });

function read(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent: connections, headers: { authorization } }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('end', () => {
        resolve(Buffer.concat(parts).toString());
      });
      answer.on('error', reject);
    }).on('error', reject);
  });
}

const beganAt = performance.now();
const latenciesMs: number[] = [];

const sizeOf = (page: unknown): unknown =>
  Array.isArray(page) ? page.length : (page as { clients?: unknown }).clients;

/** @throws Error unless the answer is the requested page */
async function measure(index: number): Promise<void> {
  const dueAt = beganAt + (index / perSecond) * 1_000;
  await delay(dueAt - performance.now());
  const text = await read(paths[index % paths.length] ?? '');
  const tookMs = performance.now() - dueAt;
  const page = JSON.parse(text) as unknown;
  if (sizeOf(page) !== items) throw new Error(`not a page of ${items}: ${text.slice(0, 200)}`);
  if (index >= warmUpSeconds * perSecond) latenciesMs.push(tookMs);
}

const indexes = Array.from({ length: Math.ceil((warmUpSeconds + seconds) * perSecond) }, (_, index) => index);
await Promise.all(indexes.map(measure));
latenciesMs.sort((a, b) => a - b);
const stats: PageStats = {
  p50Ms: percentile(latenciesMs, 0.5),
  p99Ms: percentile(latenciesMs, 0.99),
  pages: latenciesMs.length,
};
process.send?.(stats, () => process.exit(0));

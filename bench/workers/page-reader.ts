import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { percentile } from '../support/measured.ts';

/** Asks for pages by turns, at a constant rate. */
export interface PageReader {
  port: number;
  authorization: string;
  paths: readonly string[];
  /** Items that every page must have. */
  items: number;
  perSecond: number;
  warmUpSeconds: number;
  seconds: number;
}

export interface PageStats {
  /** From when each was due, so that one that is late does not hide others. */
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

/** @throws Error when it is not the page that was asked for */
async function measure(turn: number): Promise<void> {
  const dueAt = beganAt + (turn / perSecond) * 1_000;
  await delay(dueAt - performance.now());
  const text = await read(paths[turn % paths.length] ?? '');
  const tookMs = performance.now() - dueAt;
  const page = JSON.parse(text) as unknown;
  if (!Array.isArray(page) || page.length !== items) throw new Error(`not a page of ${items}: ${text.slice(0, 200)}`);
  if (turn >= warmUpSeconds * perSecond) latenciesMs.push(tookMs);
}

const turns = Array.from({ length: Math.ceil((warmUpSeconds + seconds) * perSecond) }, (_, turn) => turn);
await Promise.all(turns.map(measure));
latenciesMs.sort((a, b) => a - b);
const figures: PageStats = { p99Ms: percentile(latenciesMs, 0.99), pages: latenciesMs.length };
process.send?.(figures, () => process.exit(0));

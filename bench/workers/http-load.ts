import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { percentile } from '../support/measured.ts';

/** The events `<prefix><n × stride>/<check>`. */
export interface PutKeys {
  prefix: string;
  entities: number;
  stride: number;
  checks: string[];
}

export interface HttpLoad {
  port: number;
  connections: number;
  authorization: string;
  keys: PutKeys;
  /** The check TTL of the events in seconds; 0 for none. */
  ttl: number;
  /** Random keys for this long, or each key once. */
  until: { warmUpSeconds: number; seconds: number } | 'each key once';
  /** The constant rate of requests; without it, each answer is followed by the next request. */
  perSecond?: number;
}

export interface HttpLoadResult {
  perSecond: number;
  p99Ms: number;
  failures: number;
  /** All requests, also those of the warm-up. */
  answered: number;
}

const load = JSON.parse(process.argv[2] ?? '{}') as HttpLoad;
const { prefix, entities, stride, checks } = load.keys;
const allKeys = entities * checks.length;
const END_OF_HEADERS = '\r\n\r\n';
let isCounting = load.until === 'each key once';
let isOver = false;
let failures = 0;
let answered = 0;
/** The keepalive timeout of agents by default. */
const DEFAULT_TIMEOUT_S = 120;
let sent = 0;
const latenciesMs: number[] = [];

/** The number of the next key; undefined after the last. */
function nextKey(): number | undefined {
  if (load.until !== 'each key once') return isOver ? undefined : Math.floor(Math.random() * allKeys);
  sent += 1;
  return sent > allKeys ? undefined : sent - 1;
}

function requestText(key: number): string {
  const entity = `${prefix}${(key % entities) * stride}`;
  const check = checks[Math.floor(key / entities)] ?? '';
  const body = JSON.stringify({
    entity: { entity_class: 'proxy', metadata: { name: entity, namespace: 'default' } },
    check: {
      metadata: { name: check, namespace: 'default' },
      interval: 60,
      timeout: load.ttl === 0 ? DEFAULT_TIMEOUT_S : load.ttl / 2,
      ttl: load.ttl,
      status: Math.random() < 0.01 ? 1 : 0,
      output: 'CPU OK - 5% used '.repeat(4),
      executed: Math.floor(Date.now() / 1000),
      handlers: ['slack'],
    },
  });
  return (
    `PUT /api/core/v2/namespaces/default/events/${entity}/${check} HTTP/1.1\r\nHost: bench\r\n` +
    `Authorization: ${load.authorization}\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}${END_OF_HEADERS}${body}`
  );
}

/** The due times of a connection's requests; 0 without a rate. */
function* dueTimes(connection: number): Generator<number, never> {
  const startedAt = performance.now();
  for (let round = 0; ; round += 1) {
    const before = connection + round * load.connections;
    yield load.perSecond === undefined ? 0 : startedAt + (before / load.perSecond) * 1_000;
  }
}

/** Sends one request at a time and reads its whole answer. Resolves after the last key. */
function drive(socket: Socket, due: Iterator<number, never>): Promise<void> {
  let text = '';
  let sentAt = 0;
  const put = (key: number): void => {
    sentAt = performance.now();
    socket.write(requestText(key));
  };
  const next = (): boolean => {
    const key = nextKey();
    if (key === undefined) return false;
    const waitMs = due.next().value - performance.now();
    if (waitMs > 1) setTimeout(put, waitMs, key);
    else put(key);
    return true;
  };
  return new Promise((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      const end = text.indexOf(END_OF_HEADERS);
      if (end < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (text.length < end + END_OF_HEADERS.length + length) return;
      if (isCounting) latenciesMs.push(performance.now() - sentAt);
      answered += 1;
      if (!text.startsWith('HTTP/1.1 200')) failures += 1;
      text = '';
      if (!next()) resolve();
    });
    if (!next()) resolve();
  });
}

const sockets = Array.from({ length: load.connections }, () => connect(load.port, '127.0.0.1').setNoDelay(true));
await Promise.all(sockets.map((socket) => once(socket, 'connect')));
let countedFromMs = performance.now();
const driven = Promise.all(sockets.map((socket, index) => drive(socket, dueTimes(index))));
if (load.until !== 'each key once') {
  await delay(load.until.warmUpSeconds * 1_000);
  isCounting = true;
  countedFromMs = performance.now();
  await delay(load.until.seconds * 1_000);
  isCounting = false;
  isOver = true;
} else {
  await driven;
}
const seconds = (performance.now() - countedFromMs) / 1_000;
await driven;
latenciesMs.sort((a, b) => a - b);
const result: HttpLoadResult = {
  perSecond: latenciesMs.length / seconds,
  p99Ms: percentile(latenciesMs, 0.99),
  failures,
  answered,
};
process.send?.(result, () => process.exit(0));

import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type BenchedBackend, withBackend } from '../support/benched-backend.ts';
import { percentile, type Row } from '../support/measured.ts';

const EVENTS = 1_000;
const PER_SECOND = 100;
const CHECKS = 100;
/** The time for the last events. */
const WITHIN_MS = 5_000;
const NUMBER = /"output":"(\d+)"/;

/** A TCP server that notes when the first byte of each numbered text arrives. */
async function listen() {
  const firstByteAt = new Map<number, number>();
  const server = createServer((socket) => {
    let arrivedAt: number | undefined;
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      arrivedAt ??= performance.now();
      text += chunk.toString();
    });
    socket.on('error', () => undefined);
    socket.on('end', () => {
      const number = NUMBER.exec(text)?.[1];
      if (number !== undefined && arrivedAt !== undefined) firstByteAt.set(Number(number), arrivedAt);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return { server, firstByteAt, port: typeof address === 'object' && address !== null ? address.port : 0 };
}

type Receiver = Awaited<ReturnType<typeof listen>>;

/** Begins `act` for each number at a constant rate. It returns when the sender's part is over. Returns the p99 of the time from then to the first byte. */
async function p99Ms({ firstByteAt }: Receiver, act: (number: number) => Promise<number>): Promise<number> {
  firstByteAt.clear();
  const startedAt = performance.now();
  const accepted: Promise<number>[] = [];
  for (let number = 0; number < EVENTS; number += 1) {
    await delay(Math.max(0, startedAt + (number * 1_000) / PER_SECOND - performance.now()));
    accepted.push(act(number));
  }
  const acceptedAt = await Promise.all(accepted);
  const untilMs = performance.now() + WITHIN_MS;
  while (firstByteAt.size < EVENTS && performance.now() < untilMs) await delay(10);
  if (firstByteAt.size < EVENTS) throw new Error(`only ${firstByteAt.size} of ${EVENTS} events arrived`);
  const lateness = acceptedAt.map((at, number) => Math.max(0, (firstByteAt.get(number) ?? Infinity) - at));
  return percentile(
    lateness.sort((one, other) => one - other),
    0.99,
  );
}

/** The raw limit: from the start of a connection to the first byte. */
const bare = (receiver: Receiver): Promise<number> =>
  p99Ms(receiver, (number) => {
    const at = performance.now();
    connect(receiver.port, '127.0.0.1').end(`"output":"${number}"`);
    return Promise.resolve(at);
  });

async function throughBackend(backend: BenchedBackend, receiver: Receiver): Promise<number> {
  const headers = { Authorization: await backend.authorization(), 'Content-Type': 'application/json' };
  const put = async (path: string, body: object): Promise<void> => {
    const url = `http://127.0.0.1:${backend.api}/api/core/v2/namespaces/default/${path}`;
    const response = await fetch(url, { method: 'PUT', headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path} was refused: ${response.status} ${await response.text()}`);
    await response.arrayBuffer();
  };
  const metadata = (name: string) => ({ name, namespace: 'default' });
  const socket = { host: '127.0.0.1', port: receiver.port };
  await put('handlers/bench', { metadata: metadata('bench'), type: 'tcp', socket, filters: ['is_incident'] });
  return p99Ms(receiver, async (number) => {
    const name = `check-${number % CHECKS}`;
    const check = { metadata: metadata(name), interval: 60, status: 1, output: String(number), handlers: ['bench'] };
    const entity = { metadata: metadata('bench'), entity_class: 'proxy' };
    await put(`events/bench/${name}`, { entity, check });
    return performance.now();
  });
}

/** G11: from the answer to an event to the first byte at its tcp handler, at a constant load. */
export async function firstByte(): Promise<Row[]> {
  const receiver = await listen();
  try {
    const rawLimit = await bare(receiver);
    const value = await withBackend((backend) => throughBackend(backend, receiver));
    return [
      {
        id: 'G11',
        what: `event accepted to first byte at the handler at ${PER_SECOND}/s, p99; limit: bare TCP`,
        unit: 'ms',
        value,
        rawLimit,
        floor: 50,
        isCost: true,
        isFixed: true,
      },
    ];
  } finally {
    receiver.server.close();
  }
}

import { connect, type Socket } from 'node:net';
import { percentile } from './measured.ts';

export interface HttpLoad {
  port: number;
  connections: number;
  seconds: number;
  warmUpSeconds: number;
  authorization: string;
  /** Keys that the requests spread over. */
  keys: number;
}

export interface HttpLoadResult {
  perSecond: number;
  p99Ms: number;
  failures: number;
}

const load = JSON.parse(process.argv[2] ?? '{}') as HttpLoad;
const END_OF_HEADERS = '\r\n\r\n';
let counting = false;
let failures = 0;
const latenciesMs: number[] = [];

function requestText(key: number): string {
  const entity = `bench-${key % 100}`;
  const check = `check-${Math.floor(key / 100)}`;
  const body = JSON.stringify({
    entity: { entity_class: 'proxy', metadata: { name: entity, namespace: 'default' } },
    check: {
      metadata: { name: check, namespace: 'default' },
      interval: 60,
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

/** Reads whole answers, one request at a time. */
function drive(socket: Socket): void {
  let text = '';
  let sentAt = 0;
  const send = (): void => {
    sentAt = performance.now();
    socket.write(requestText(Math.floor(Math.random() * load.keys)));
  };
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    const end = text.indexOf(END_OF_HEADERS);
    if (end < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
    if (text.length < end + END_OF_HEADERS.length + length) return;
    if (counting) latenciesMs.push(performance.now() - sentAt);
    if (!text.startsWith('HTTP/1.1 200')) failures += 1;
    text = '';
    send();
  });
  send();
}

for (let index = 0; index < load.connections; index += 1) {
  const socket = connect(load.port, '127.0.0.1', () => {
    drive(socket);
  });
  socket.setNoDelay(true);
}
setTimeout(() => {
  counting = true;
  setTimeout(() => {
    latenciesMs.sort((a, b) => a - b);
    const result: HttpLoadResult = {
      perSecond: latenciesMs.length / load.seconds,
      p99Ms: percentile(latenciesMs, 0.99),
      failures,
    };
    process.send?.(result, () => process.exit(0));
  }, load.seconds * 1_000);
}, load.warmUpSeconds * 1_000);

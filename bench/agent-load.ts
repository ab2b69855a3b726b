import { randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';
import { helloHeaders } from '../src/wire/handshake.ts';
import { agentEvent, agentKeepalive } from './agent-events.ts';

export interface AgentLoad {
  port: number;
  sessions: number;
  checksPerSession: number;
  seconds: number;
  /** Events on the way per session. */
  window: number;
}

export interface AgentLoadResult {
  perSecond: number;
  events: number;
}

const load = JSON.parse(process.argv[2] ?? '{}') as AgentLoad;
const noMask = { generateMask: (mask: Buffer) => void mask.fill(0) };

interface Driver {
  socket: WebSocket;
  name: string;
  sent: number;
  acknowledged: number;
}

async function connect(index: number): Promise<Driver> {
  const name = `agent-${index}`;
  const hello = { agentName: name, namespace: 'default', subscriptions: [], user: 'agent', queueId: randomUUID() };
  const socket = new WebSocket(`ws://127.0.0.1:${load.port}`, {
    headers: helloHeaders(hello, { username: 'agent', password: 'P@ssw0rd!' }),
    perMessageDeflate: false,
    ...noMask,
  });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  socket.send(`keepalive\n${JSON.stringify(agentKeepalive(name))}`);
  return { socket, name, sent: 0, acknowledged: 0 };
}

/** Each key's event as text around its time: made once, since making it is not what is measured. */
const templates = new Map<string, [string, string]>();

function eventText(name: string, check: number): string {
  const id = `${name}/${check}`;
  let template = templates.get(id);
  if (template === undefined) {
    const [head = '', tail = ''] = JSON.stringify(agentEvent(name, `check-${check}`)).split('"<executed>"');
    template = [head, tail];
    templates.set(id, template);
  }
  const status = Math.random() < 0.01 ? 1 : 0;
  return `${template[0]}${Math.floor(Date.now() / 1_000)},"status":${status}${template[1]}`;
}

const checkNumber = (driver: Driver): number =>
  driver.sent < load.checksPerSession ? driver.sent : Math.floor(Math.random() * load.checksPerSession);

function sendNext(driver: Driver): void {
  const text = eventText(driver.name, checkNumber(driver));
  driver.sent += 1;
  driver.socket.send(`event ${driver.sent}\n${text}`);
}

const drivers: Driver[] = [];
for (let index = 0; index < load.sessions; index += 1) drivers.push(await connect(index));

let acknowledged = 0;
for (const driver of drivers) {
  driver.socket.on('message', (message: Buffer) => {
    if (!message.subarray(0, 4).equals(Buffer.from('ack\n'))) return;
    const n = Number(message.subarray(4).toString());
    acknowledged += n - driver.acknowledged;
    driver.acknowledged = n;
    while (driver.sent - driver.acknowledged < load.window) sendNext(driver);
  });
  for (let index = 0; index < load.window; index += 1) sendNext(driver);
}

/** The first pass makes all keys; only what comes after it is measured. */
const allKeys = load.sessions * load.checksPerSession;
while (acknowledged < allKeys) await new Promise((resolve) => setTimeout(resolve, 50));
process.send?.('warm');
const from = acknowledged;
const startedAt = performance.now();
await new Promise((resolve) => setTimeout(resolve, load.seconds * 1_000));
const events = acknowledged - from;
const result: AgentLoadResult = { events, perSecond: events / ((performance.now() - startedAt) / 1_000) };
process.send?.(result, () => process.exit(0));

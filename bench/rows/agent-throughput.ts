import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { HANDLER } from '../support/agent-events.ts';
import type { AgentLoad, AgentLoadResult } from '../workers/agent-load.ts';
import type { BareAgentPort } from '../workers/bare-agent-port.ts';
import { type BackendOptions, type BenchedBackend, withBackend } from '../support/benched-backend.ts';
import { HERE } from '../support/checkout.ts';
import type { Encoding } from '../support/event-frame.ts';
import type { Row } from '../support/measured.ts';
import { cpuColumns, cpuPerEvent, cpuTimesOf } from '../support/thread-cpu.ts';
import { nextMessage, startWorker } from '../support/workers.ts';

const LOAD = { sessions: 1_000, checksPerSession: 100, window: 20 };
const SECONDS = 10;
/** Enough for the bare port, which only has to compile its code. */
const BARE_SECONDS = 5;
const FLOORS: Record<Encoding, number> = { protobuf: 20_000, json: 12_000 };

interface Load {
  encoding: Encoding;
  seconds?: number;
  events?: number;
  sessions?: number;
  checksPerSession?: number;
}

/** Runs the load and measures the CPU time of the receiving process, in microseconds per event. */
async function load(pid: number, port: number, { encoding, seconds, events: until, ...agents }: Load) {
  const worker = startWorker('agent-load', {
    ...LOAD,
    ...agents,
    port,
    encoding,
    seconds,
    events: until,
  } satisfies AgentLoad);
  await nextMessage(worker);
  const before = cpuTimesOf(pid);
  const beganAtUs = Number(process.hrtime.bigint() / 1_000n);
  const { perSecond, events } = await nextMessage<AgentLoadResult>(worker);
  return { perSecond, events, beganAtUs, cpu: cpuPerEvent(before, cpuTimesOf(pid), events) };
}

async function bareLimit(encoding: Encoding): Promise<number> {
  const bare = startWorker('bare-agent-port', { decodes: encoding } satisfies BareAgentPort);
  try {
    const port = await nextMessage<number>(bare);
    return (await load(bare.pid ?? 0, port, { encoding, seconds: BARE_SECONDS })).perSecond;
  } finally {
    bare.disconnect();
  }
}

/** A stored filter that passes the same events as `is_incident`, of which one in a hundred is new. */
const STORED_FILTER = {
  metadata: { name: 'bench', namespace: 'default' },
  action: 'allow',
  expressions: ['event.check.status !== 0 || event.is_resolution'],
};

/** Stores a resource of the namespace `default`. @throws Error when it is refused */
async function store(backend: BenchedBackend, kind: string, body: object): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${backend.api}/api/core/v2/namespaces/default/${kind}`, {
    method: 'POST',
    headers: { Authorization: await backend.authorization(), 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${kind} could not be created: ${response.status} ${await response.text()}`);
}

/** Runs with the handler that the results name, behind a filter, and with a receiver of its datagrams. */
export async function withHandler<T>(backend: BenchedBackend, filter: string, run: () => Promise<T>): Promise<T> {
  const receiver = createSocket('udp4');
  receiver.bind(0, '127.0.0.1');
  await once(receiver, 'listening');
  try {
    await store(backend, 'filters', STORED_FILTER);
    await store(backend, 'handlers', {
      metadata: { name: HANDLER, namespace: 'default' },
      type: 'udp',
      socket: { host: '127.0.0.1', port: receiver.address().port },
      filters: [filter],
    });
    return await run();
  } finally {
    receiver.close();
  }
}

const underLoad = (whole: Load, filter: string, options?: BackendOptions) =>
  withBackend((backend) => withHandler(backend, filter, () => load(backend.pid, backend.agents, whole)), options);

/** Runs the load of G2 with a backend of a checkout, which may write a CPU profile. */
export async function loadEvents({ checkout = HERE, profile, ...whole }: Load & Omit<BackendOptions, 'stateDir'>) {
  const { perSecond, events, beganAtUs, cpu } = await underLoad(whole, 'is_incident', { checkout, profile });
  return { perSecond, events, beganAtUs, cpu };
}

/** G2: agents' events, decoded, merged, with their check TTLs rearmed, and durable before the acknowledgement. */
async function throughput(encoding: Encoding): Promise<Row> {
  const rawLimit = await bareLimit(encoding);
  const { perSecond, cpu } = await underLoad({ encoding, seconds: SECONDS }, 'is_incident');
  const byThread = Object.entries(cpuColumns(cpu)).map(([thread, us]) => `${thread} ${us.toFixed(0)}`);
  process.stdout.write(`G2 in ${encoding}, of the backend for an event: ${byThread.join(', ')}\n`);
  return {
    id: 'G2',
    what: `agents' events in ${encoding}, durable; limit: ws and full decode`,
    unit: '/s',
    value: perSecond,
    rawLimit,
    floor: FLOORS[encoding],
  };
}

export async function agentThroughput(): Promise<Row[]> {
  return [await throughput('protobuf'), await throughput('json')];
}

/** The CPU time of an event with one stored filter, compared with a built-in one that passes the same events. */
export async function filteredThroughput(): Promise<Row[]> {
  const whole: Load = { encoding: 'protobuf', seconds: SECONDS };
  const { cpu: builtIn } = await underLoad(whole, 'is_incident');
  const { cpu: stored } = await underLoad(whole, STORED_FILTER.metadata.name);
  const [builtInUs, storedUs] = [builtIn.all, stored.all];
  process.stdout.write(`G2F: ${storedUs.toFixed(0)} µs of backend CPU an event, ${builtInUs.toFixed(0)} without\n`);
  return [
    {
      id: 'G2F',
      what: 'CPU of G2 with one stored filter per event; limit: without',
      unit: 'times',
      value: storedUs / builtInUs,
      rawLimit: 1,
      floor: 1.5,
      isCost: true,
      isFixed: true,
    },
  ];
}

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { HANDLER } from '../support/agent-events.ts';
import type { AgentLoad, AgentLoadResult } from '../workers/agent-load.ts';
import type { BareAgentPort } from '../workers/bare-agent-port.ts';
import { type BenchedBackend, withBackend } from '../support/benched-backend.ts';
import type { Encoding } from '../support/event-frame.ts';
import type { Row } from '../support/measured.ts';
import { cpuSeconds } from '../support/process-stats.ts';
import { nextMessage, startWorker } from '../support/workers.ts';

const LOAD = { sessions: 1_000, checksPerSession: 100, window: 20 };
const SECONDS = 10;
/** Enough for the bare port, which only has to compile its code. */
const BARE_SECONDS = 5;
const FLOORS: Record<Encoding, number> = { protobuf: 20_000, json: 12_000 };

/** Runs the load and measures the CPU time of the receiving process, in microseconds per event. */
async function load(pid: number, port: number, encoding: Encoding, seconds: number) {
  const worker = startWorker('agent-load', { ...LOAD, port, encoding, seconds } satisfies AgentLoad);
  await nextMessage(worker);
  const cpuBeforeS = cpuSeconds(pid);
  const { perSecond, events } = await nextMessage<AgentLoadResult>(worker);
  return { perSecond, cpuPerEventUs: ((cpuSeconds(pid) - cpuBeforeS) / events) * 1e6 };
}

async function bareLimit(encoding: Encoding): Promise<number> {
  const bare = startWorker('bare-agent-port', { decodes: encoding } satisfies BareAgentPort);
  try {
    const port = await nextMessage<number>(bare);
    return (await load(bare.pid ?? 0, port, encoding, BARE_SECONDS)).perSecond;
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

/** Runs with a handler behind a filter and a receiver of its datagrams. */
async function withHandler<T>(backend: BenchedBackend, filter: string, run: () => Promise<T>): Promise<T> {
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

const underLoad = (encoding: Encoding, filter: string) =>
  withBackend((backend) => withHandler(backend, filter, () => load(backend.pid, backend.agents, encoding, SECONDS)));

/** G2: agents' events, decoded, merged, with their check TTLs rearmed, and durable before the acknowledgement. */
async function throughput(encoding: Encoding): Promise<Row> {
  const rawLimit = await bareLimit(encoding);
  const { perSecond, cpuPerEventUs } = await underLoad(encoding, 'is_incident');
  process.stdout.write(`G2 in ${encoding}: ${cpuPerEventUs.toFixed(0)} µs of backend CPU an event\n`);
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
  const { cpuPerEventUs: builtInUs } = await underLoad('protobuf', 'is_incident');
  const { cpuPerEventUs: storedUs } = await underLoad('protobuf', STORED_FILTER.metadata.name);
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

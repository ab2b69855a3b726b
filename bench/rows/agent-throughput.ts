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

/** Runs with a handler behind `is_incident` and a receiver of its datagrams. */
async function withHandler<T>(backend: BenchedBackend, run: () => Promise<T>): Promise<T> {
  const receiver = createSocket('udp4');
  receiver.bind(0, '127.0.0.1');
  await once(receiver, 'listening');
  try {
    const response = await fetch(`http://127.0.0.1:${backend.api}/api/core/v2/namespaces/default/handlers`, {
      method: 'POST',
      headers: { Authorization: await backend.authorization(), 'Content-Type': 'application/json' },
      body: JSON.stringify({
        metadata: { name: HANDLER, namespace: 'default' },
        type: 'udp',
        socket: { host: '127.0.0.1', port: receiver.address().port },
        filters: ['is_incident'],
      }),
    });
    if (!response.ok) throw new Error(`the handler could not be created: ${response.status} ${await response.text()}`);
    return await run();
  } finally {
    receiver.close();
  }
}

/** G2: agents' events, decoded, merged, with their check TTLs rearmed, and durable before the acknowledgement. */
async function throughput(encoding: Encoding): Promise<Row> {
  const rawLimit = await bareLimit(encoding);
  const { perSecond, cpuPerEventUs } = await withBackend((backend) =>
    withHandler(backend, () => load(backend.pid, backend.agents, encoding, SECONDS)),
  );
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

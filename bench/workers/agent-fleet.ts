import { agentEvent, encodeKeepalive } from '../support/agent-events.ts';
import { RawAgentSocket } from '../support/raw-agent-socket.ts';

export interface AgentFleet {
  port: number;
  agents: number;
  localAddress: string;
  checks: number;
  /** Seconds between the results of a check, and between the keepalives of an agent. */
  intervalS: number;
  keepaliveS: number;
}

/** `connect` a few at a time, `fill` the store with each result, or send for so many seconds what is due, or what `change`s. */
export type FleetOrder = { do: 'connect' | 'fill' } | { do: 'run' | 'change'; seconds: number };

/** The messages that were sent. */
export interface FleetSent {
  results: number;
  keepalives: number;
}

const fleet = JSON.parse(process.argv[2] ?? '{}') as AgentFleet;
const CONCURRENT_HANDSHAKES = 50;
const RETRY_MS = 1_000;
const SLICE_MS = 50;
const FILL_PER_S = 1_500;
/** Longer than a measurement, so that nothing expires. */
const TTL_S = 3_600;

const nameOf = (agent: number): string => `agent-${agent}`;
const sockets: (RawAgentSocket | undefined)[] = Array.from({ length: fleet.agents });

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

async function connectOne(agent: number): Promise<void> {
  for (;;) {
    const socket = new RawAgentSocket(nameOf(agent), fleet);
    if (await socket.greeted) {
      sockets[agent] = socket;
      sendKeepalive(agent);
      return;
    }
    await pause(RETRY_MS);
  }
}

async function connectAll(): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < fleet.agents) {
      next += 1;
      await connectOne(next - 1);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_HANDSHAKES }, worker));
}

function sendKeepalive(agent: number): void {
  const timeouts = { intervalS: fleet.keepaliveS, warningS: TTL_S };
  sockets[agent]?.send(encodeKeepalive(nameOf(agent), timeouts));
}

function sendResult(agent: number, check: number, status = 0): void {
  const executed = Math.floor(Date.now() / 1_000);
  const event = agentEvent(nameOf(agent), `check-${check}`, {
    ttl: TTL_S,
    interval: fleet.intervalS,
    executed,
    status,
  });
  sockets[agent]?.send(`event\n${JSON.stringify(event)}`);
}

const resultAt = (index: number): [agent: number, check: number] => [
  index % fleet.agents,
  Math.floor(index / fleet.agents) % fleet.checks,
];

/** The keepalives that were due since the start, whether their agents were connected or not. */
let keepalives = 0;
const startedAt = performance.now();

setInterval(() => {
  const elapsedS = (performance.now() - startedAt) / 1_000;
  for (const due = (fleet.agents * elapsedS) / fleet.keepaliveS; keepalives < due; keepalives += 1) {
    sendKeepalive(keepalives % fleet.agents);
  }
}, SLICE_MS);

/** Sends results at a rate, spread evenly over the time as schedules spread them. */
async function send(perS: number, seconds: number, statusOf: (round: number) => number): Promise<FleetSent> {
  const before = keepalives;
  const beganAt = performance.now();
  for (let results = 0; ;) {
    const elapsedS = Math.min(seconds, (performance.now() - beganAt) / 1_000);
    for (const due = perS * elapsedS; results < due; results += 1) {
      sendResult(...resultAt(results), statusOf(Math.floor(results / (fleet.agents * fleet.checks))));
    }
    if (elapsedS >= seconds) return { results, keepalives: keepalives - before };
    await pause(SLICE_MS);
  }
}

async function obey(order: FleetOrder): Promise<FleetSent> {
  const all = fleet.agents * fleet.checks;
  if (order.do === 'run') return send(all / fleet.intervalS, order.seconds, () => 0);
  if (order.do === 'change') return send(all / fleet.intervalS, order.seconds, (round) => (round + 1) % 2);
  if (order.do === 'fill') return send(FILL_PER_S, all / FILL_PER_S, () => 0);
  await connectAll();
  return { results: 0, keepalives: 0 };
}

process.on('message', (order: FleetOrder) => void obey(order).then((sent) => process.send?.(sent)));
process.on('disconnect', () => process.exit(0));

import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { encodeFrame } from '../../src/wire/frame.ts';
import { agentEvent, encodeKeepalive } from '../support/agent-events.ts';
import { agentSocket } from '../support/agent-socket.ts';

/** Agents that connect one by one, each with one keepalive and its results, and then fall silent. */
export interface SilentAgents {
  port: number;
  agents: number;
  resultsPerAgent: number;
  /** The period over which they connect, at even intervals. */
  overSeconds: number;
  /** Seconds until a check TTL expires. */
  ttl: number;
  /** Seconds until a keepalive is missing. */
  warningS: number;
}

const { port, agents, resultsPerAgent, overSeconds, ttl, warningS } = JSON.parse(
  process.argv[2] ?? '{}',
) as SilentAgents;

async function connectAndReport(name: string): Promise<void> {
  const socket = agentSocket({ port, name, encoding: 'json', numbersEvents: false });
  await once(socket, 'open');
  socket.send(encodeKeepalive(name, { warningS }));
  const executed = Math.floor(Date.now() / 1_000);
  for (let check = 0; check < resultsPerAgent; check += 1) {
    socket.send(
      encodeFrame('event', JSON.stringify(agentEvent(name, `check-${check}`, { ttl, interval: 1, executed }))),
    );
  }
}

const startedAt = performance.now();
const reported: Promise<void>[] = [];
for (let index = 0; index < agents; index += 1) {
  const dueMs = startedAt + (index / agents) * overSeconds * 1_000;
  await delay(Math.max(0, dueMs - performance.now()));
  reported.push(connectAndReport(`silent-${index}`));
}
await Promise.all(reported);
process.send?.('silent');
// The connections stay open: silent agents are not disconnected ones.
process.on('disconnect', () => process.exit(0));

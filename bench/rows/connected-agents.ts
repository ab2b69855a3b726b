import { setTimeout as delay } from 'node:timers/promises';
import type { LedgerEntry } from '../../src/store/ledger/ledger.ts';
import type { AgentCrowd, CrowdConnected, CrowdOrder } from '../workers/agent-crowd.ts';
import type { BareAgentPort } from '../workers/bare-agent-port.ts';
import { withBackend } from '../support/benched-backend.ts';
import { ledgerEntries } from '../support/ledger-entries.ts';
import type { MachineLimits, Row } from '../support/measured.ts';
import { assertDescriptors, memoryOf } from '../support/process-stats.ts';
import { nextMessage, startWorker } from '../support/workers.ts';

const AGENTS = 10_000;
/** Each holds its share of the agents, at its own local address. */
const WORKERS = 2;
/** The descriptors that a process needs besides its connections. */
const SPARE_DESCRIPTORS = 500;
const KEEPALIVE_INTERVAL_S = 20;
const RECONNECT_FLOOR = 1_000;

/** A crowd of idle agents in worker processes. */
class Crowd {
  readonly #workers;

  constructor(port: number, warningS: number) {
    const agents = AGENTS / WORKERS;
    this.#workers = Array.from({ length: WORKERS }, (_, index) =>
      startWorker('agent-crowd', {
        port,
        first: index * agents,
        agents,
        localAddress: `127.0.0.${index + 2}`,
        timeouts: { intervalS: KEEPALIVE_INTERVAL_S, warningS },
      } satisfies AgentCrowd),
    );
  }

  /** Resolves with the duration when all are connected. */
  async give(order: CrowdOrder): Promise<{ seconds: number; retries: number }> {
    const startedAt = performance.now();
    for (const worker of this.#workers) worker.send(order);
    const answers = await Promise.all(this.#workers.map((worker) => nextMessage<CrowdConnected>(worker)));
    const retries = answers.reduce((sum, answer) => sum + answer.retries, 0);
    return { seconds: (performance.now() - startedAt) / 1_000, retries };
  }

  leave(): void {
    for (const worker of this.#workers) worker.disconnect();
  }
}

interface CrowdStats {
  residentMb: number;
  reconnectsPerS: number;
}

/** Connects a crowd, lets each agent send a keepalive, reads the memory, and cuts all connections at once. */
async function measureCrowd(pid: number, port: number, warningS: number, what: string): Promise<CrowdStats> {
  const crowd = new Crowd(port, warningS);
  try {
    const connected = await crowd.give('connect');
    await delay(KEEPALIVE_INTERVAL_S * 1_000);
    const { residentMb, mappedMb } = memoryOf(pid);
    const cutAtMs = performance.now();
    const back = await crowd.give('at once');
    process.stdout.write(
      `${what}: ${AGENTS} agents connected in turn in ${connected.seconds.toFixed(1)} s, reconnected at once in ` +
        `${back.seconds.toFixed(1)} s with ${back.retries} repeated attempts; ${mappedMb.toFixed(0)} MB are mapped files\n`,
    );
    // Until the last keepalive before the cut would have been reported as missing.
    await delay(Math.max(0, warningS * 1_000 - (performance.now() - cutAtMs)));
    return { residentMb, reconnectsPerS: AGENTS / back.seconds };
  } finally {
    crowd.leave();
  }
}

async function bareCrowd(warningS: number): Promise<CrowdStats> {
  const bare = startWorker('bare-agent-port', { decodes: 'nothing' } satisfies BareAgentPort);
  try {
    const port = await nextMessage<number>(bare);
    return await measureCrowd(bare.pid ?? 0, port, warningS, 'bare ws');
  } finally {
    bare.disconnect();
  }
}

const isAlert = ({ to }: LedgerEntry): boolean => to === 'warning' || to === 'critical';

/** G5 and G6: the memory of idle agents, and how fast they reconnect after all were cut. @throws Error if one of them raised an alert */
export async function connectedAgents({ scale }: MachineLimits): Promise<Row[]> {
  assertDescriptors(AGENTS + SPARE_DESCRIPTORS);
  // An agent that is silent for one interval and reconnects in twice the time of the floor must not raise an alert.
  const warningS = KEEPALIVE_INTERVAL_S + Math.ceil((2 * AGENTS) / (RECONNECT_FLOOR * scale));
  const bare = await bareCrowd(0);
  const ours = await withBackend(async (backend) => {
    const stats = await measureCrowd(backend.pid, backend.agents, warningS, 'mon-backend');
    const alerts = (await ledgerEntries(backend, 'entity')).filter(isAlert);
    if (alerts.length > 0) {
      throw new Error(`${alerts.length} agents raised alerts, the first is ${JSON.stringify(alerts[0])}`);
    }
    return stats;
  });
  return [
    {
      id: 'G5',
      what: `${AGENTS.toLocaleString('en')} idle agents; limit: bare ws`,
      unit: 'MB',
      value: ours.residentMb,
      rawLimit: bare.residentMb,
      floor: 1_200,
      isCost: true,
      isFixed: true,
    },
    {
      id: 'G6',
      what: 'agents reconnected after a cut of all, no false alert; limit: bare ws',
      unit: '/s',
      value: ours.reconnectsPerS,
      rawLimit: bare.reconnectsPerS,
      floor: RECONNECT_FLOOR,
    },
  ];
}

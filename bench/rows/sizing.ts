import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { withHandler } from './agent-throughput.ts';
import { type BenchedBackend, withBackend } from '../support/benched-backend.ts';
import { HERE, programOf } from '../support/checkout.ts';
import { printTable } from '../support/measured.ts';
import { memoryOf } from '../support/process-stats.ts';
import { cpuTimesOf } from '../support/thread-cpu.ts';
import { nextMessage, startWorker } from '../support/workers.ts';
import type { AgentFleet, FleetOrder, FleetSent } from '../workers/agent-fleet.ts';
import { STORED_ENTITIES, withSeededState } from './stored-state.ts';

/** The argument of `npm run bench` that selects this table: what fleets of agents, and a backup, cost. */
export const SIZING = 'sizing';

const FLEETS = [100, 1_000, 10_000];
const CHECKS = 10;
const INTERVAL_S = 60;
const KEEPALIVE_S = 20;
const RUN_S = 30;
/** The results of a fleet that each change the status. */
const CHANGED = { agents: 100, intervalS: 1, seconds: 10 };
const SETTLE_MS = 6_000;
const IDLE_DECISIONS = 20;
const CLOCK_TICKS_PER_S = 100;
const MB = 1e6;

/** The API closes connections that are idle. */
const NOT_KEPT = { headers: { connection: 'close' } };

const run = promisify(execFile);

/** A fleet in a process of its own. */
class Fleet {
  readonly #worker;

  constructor(fleet: Omit<AgentFleet, 'localAddress' | 'checks' | 'keepaliveS'>) {
    const argument: AgentFleet = { ...fleet, localAddress: '127.0.0.2', checks: CHECKS, keepaliveS: KEEPALIVE_S };
    this.#worker = startWorker('agent-fleet', argument);
  }

  async obey(order: FleetOrder): Promise<FleetSent> {
    this.#worker.send(order);
    return nextMessage<FleetSent>(this.#worker);
  }

  leave(): void {
    this.#worker.disconnect();
  }
}

async function metricsOf({ api }: BenchedBackend): Promise<(name: string) => number> {
  const text = await (await fetch(`http://127.0.0.1:${api}/metrics`, NOT_KEPT)).text();
  return (name) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 'NaN');
}

/** Waits until what was sent is stored. */
async function settled(backend: BenchedBackend, agents: number): Promise<void> {
  const stored = async (): Promise<number> => (await metricsOf(backend))('mon_commit_decisions_total');
  for (let before = await stored(); ;) {
    await delay(SETTLE_MS);
    const after = await stored();
    // The backend goes on to note that it is alive, and which connections are silent.
    if (after - before < IDLE_DECISIONS + agents) return;
    before = after;
  }
}

interface FleetCost {
  perS: number;
  cpuPercent: number;
  cpuUs: number;
  ownMb: number;
  storeMb: number;
  descriptors: number;
}

/** What a fleet costs that reports as agents with ten checks a minute do. */
function measureFleet(agents: number): Promise<FleetCost> {
  return withBackend(async (backend) => {
    const fleet = new Fleet({ port: backend.agents, agents, intervalS: INTERVAL_S });
    try {
      await fleet.obey({ do: 'connect' });
      await fleet.obey({ do: 'fill' });
      await settled(backend, agents);
      const before = cpuTimesOf(backend.pid).all;
      const startedAt = performance.now();
      const { results, keepalives } = await fleet.obey({ do: 'run', seconds: RUN_S });
      await delay(1_000);
      const seconds = (performance.now() - startedAt) / 1_000;
      const cpuS = cpuTimesOf(backend.pid).all - before;
      const { residentMb, mappedMb } = memoryOf(backend.pid);
      return {
        perS: (results + keepalives) / seconds,
        cpuPercent: (cpuS / seconds) * 100,
        cpuUs: (cpuS / (results + keepalives)) * 1e6,
        ownMb: residentMb - mappedMb,
        storeMb: (await metricsOf(backend))('mon_store_used_bytes') / MB,
        descriptors: readdirSync(`/proc/${backend.pid}/fd`).length,
      };
    } finally {
      fleet.leave();
    }
  });
}

/** The bytes that a change of a status adds to the store: ledger entries with their indexes, and the outcome of a handler's run. */
function measureChange(isHandled: boolean): Promise<number> {
  return withBackend((backend) =>
    isHandled ? withHandler(backend, 'is_incident', () => bytesOfChange(backend)) : bytesOfChange(backend),
  );
}

async function bytesOfChange(backend: BenchedBackend): Promise<number> {
  const { agents, intervalS, seconds } = CHANGED;
  const fleet = new Fleet({ port: backend.agents, agents, intervalS });
  try {
    await fleet.obey({ do: 'connect' });
    await fleet.obey({ do: 'fill' });
    await settled(backend, agents);
    const used = async (): Promise<number> => (await metricsOf(backend))('mon_store_used_bytes');
    const before = await used();
    const { results } = await fleet.obey({ do: 'change', seconds });
    await settled(backend, agents);
    return ((await used()) - before) / results;
  } finally {
    fleet.leave();
  }
}

/** The CPU time of the processes that this one has waited for. */
function childrenCpuS(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / CLOCK_TICKS_PER_S;
}

/** What it takes to back up and to restore a store of 50,000 entities and 100,000 results. */
function measureBackup(): Promise<string[][]> {
  return withSeededState(STORED_ENTITIES, async (stateDir) => {
    // The worker that wrote the state ends after its message; its CPU time must not count.
    await delay(SETTLE_MS);
    const program = programOf(HERE, 'mon-backend');
    const file = join(stateDir, 'copy.mdb');
    const empty = join(stateDir, 'empty');
    const lines: string[][] = [];
    for (const [command, directory] of [
      ['backup', stateDir],
      ['restore', empty],
    ] as const) {
      const [before, startedAt] = [childrenCpuS(), performance.now()];
      const { stdout } = await run(program, [command, file, '--state-dir', directory]);
      const seconds = (performance.now() - startedAt) / 1_000;
      const records = /(\d+) records, ledger ok/.exec(stdout)?.[1] ?? 'a broken ledger, not records';
      const size = `${(statSync(file).size / MB).toFixed(0)} MB`;
      lines.push([command, records, size, (childrenCpuS() - before).toFixed(1), seconds.toFixed(1)]);
    }
    return lines;
  });
}

/** Measures what docs/sizing.md states, and returns it as tables. CPU seconds hardly depend on what else the machine does. */
export async function sizing(): Promise<string> {
  const fleets = [];
  for (const agents of FLEETS) {
    const cost = await measureFleet(agents);
    fleets.push([
      String(agents),
      cost.perS.toFixed(0),
      cost.cpuPercent.toFixed(1),
      cost.cpuUs.toFixed(0),
      cost.ownMb.toFixed(0),
      cost.storeMb.toFixed(0),
      String(cost.descriptors),
    ]);
  }
  const [change, handled] = [await measureChange(false), await measureChange(true)];
  return [
    printTable([['agents', 'messages/s', 'CPU %', 'CPU µs each', 'MB', 'store MB', 'descriptors'], ...fleets]),
    `a change of a status adds ${change.toFixed(0)} bytes to the store, ${handled.toFixed(0)} with the run of a handler`,
    printTable([['command', 'records', 'size', 'CPU s', 's'], ...(await measureBackup())]),
  ].join('\n');
}

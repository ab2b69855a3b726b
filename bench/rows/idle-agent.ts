import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type BenchedAgent, withAgent } from '../support/benched-agent.ts';
import { median, type MachineLimits, type Row } from '../support/measured.ts';
import { memoryOf } from '../support/process-stats.ts';

const STARTS = 10;
const IDLE_MS = 30_000;
const FREE_PORT = ['--statsd-metrics-port', '0'];

/** The start and the memory of a Node.js process that does nothing. */
async function bareNode(): Promise<{ startMs: number; residentMb: number }> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, ['-e', 'process.stdout.write("ready");setInterval(() => 0, 1e6)']);
  await once(child.stdout, 'data');
  const startMs = performance.now() - startedMs;
  const { residentMb } = memoryOf(child.pid ?? 0);
  child.kill('SIGKILL');
  return { startMs, residentMb };
}

async function idleMb({ child }: BenchedAgent): Promise<number> {
  await delay(IDLE_MS);
  return memoryOf(child.pid ?? 0).residentMb;
}

/** G14: the time until the first keepalive of an agent, and its memory when it has nothing to do. */
export async function idleAgent(_limits: MachineLimits): Promise<Row[]> {
  const starts: number[] = [];
  const bare: number[] = [];
  for (let start = 0; start < STARTS; start += 1) {
    starts.push(await withAgent(FREE_PORT, ({ startMs }) => Promise.resolve(startMs)));
    bare.push((await bareNode()).startMs);
  }
  return [
    {
      id: 'G14',
      what: `resident memory of an agent that was idle for ${IDLE_MS / 1_000} s; limit: bare Node.js`,
      unit: 'MB',
      value: await withAgent(FREE_PORT, idleMb),
      rawLimit: (await bareNode()).residentMb,
      floor: 60,
      isCost: true,
      isFixed: true,
    },
    {
      id: 'G14',
      what: `start of an agent to its first keepalive, median of ${STARTS}; limit: bare Node.js`,
      unit: 'ms',
      value: median(starts),
      rawLimit: median(bare),
      floor: 300,
      isCost: true,
    },
  ];
}

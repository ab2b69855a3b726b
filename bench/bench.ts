import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AgentLoad, AgentLoadResult } from './agent-load.ts';
import type { HttpLoad, HttpLoadResult } from './http-load.ts';
import type { EngineLoad } from './state-engine.ts';
import { machineScale, passes, printRows, type Row } from './measured.ts';
import { ADMIN, runWorker, startBenchedBackend } from './processes.ts';

/** `npm run bench -- G2` measures that row only, after the raw limit that scales its floor. */
const only = new Set(process.argv.slice(2));
const wants = (id: string): boolean => only.size === 0 || only.has(id);
const SECONDS = 10;
const HTTP = { connections: 64, seconds: SECONDS, warmUpSeconds: 3, keys: 10_000 };
const CLOCK_TICKS_PER_S = 100;

function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_S;
}

async function bareLimit(): Promise<HttpLoadResult> {
  const child = fork(fileURLToPath(new URL('./bare-server.ts', import.meta.url)), [], {
    execArgv: ['--import', 'tsx'],
  });
  const [port] = (await once(child, 'message')) as [number];
  const load: HttpLoad = { ...HTTP, port, authorization: 'none' };
  const result = await runWorker<HttpLoadResult>('./http-load.ts', load);
  child.disconnect();
  await once(child, 'exit');
  return result;
}

async function login(api: number): Promise<string> {
  const basic = Buffer.from(`${ADMIN.username}:${ADMIN.password}`).toString('base64');
  const response = await fetch(`http://127.0.0.1:${api}/auth`, { headers: { Authorization: `Basic ${basic}` } });
  const { access_token: token } = (await response.json()) as { access_token: string };
  return `Bearer ${token}`;
}

async function restPut(bare: HttpLoadResult): Promise<Row[]> {
  const backend = await startBenchedBackend(cpuSeconds);
  const load: HttpLoad = { ...HTTP, port: backend.api, authorization: await login(backend.api) };
  const { perSecond, p99Ms, failures } = await runWorker<HttpLoadResult>('./http-load.ts', load);
  await backend.stop();
  if (failures > 0) throw new Error(`${failures} PUTs were not answered 200`);
  return [
    {
      id: 'G1',
      what: 'REST PUT of one event, durable',
      unit: '/s',
      figure: perSecond,
      rawLimit: bare.perSecond,
      floor: 8_000,
    },
    { id: 'G1', what: 'the same, p99', unit: 'ms', figure: p99Ms, rawLimit: bare.p99Ms, floor: 25, isCost: true },
  ];
}

async function agentEvents(): Promise<Row[]> {
  const rawLimit = await runWorker<number>('./raw-decode.ts', {});
  const backend = await startBenchedBackend(cpuSeconds);
  const load: AgentLoad = {
    port: backend.agents,
    sessions: 1_000,
    checksPerSession: 100,
    seconds: SECONDS,
    window: 20,
  };
  const child = fork(fileURLToPath(new URL('./agent-load.ts', import.meta.url)), [JSON.stringify(load)], {
    execArgv: ['--import', 'tsx'],
  });
  await once(child, 'message');
  const cpuBefore = backend.cpuS();
  const [{ perSecond, events }] = (await once(child, 'message')) as [AgentLoadResult];
  const cpuPerEventUs = ((backend.cpuS() - cpuBefore) / events) * 1e6;
  await backend.stop();
  process.stdout.write(`G2: ${cpuPerEventUs.toFixed(0)} µs of backend CPU an event\n`);
  return [
    {
      id: 'G2',
      what: 'agent events over WebSocket in JSON, durable',
      unit: '/s',
      figure: perSecond,
      rawLimit,
      floor: 12_000,
    },
  ];
}

async function stateEngine(): Promise<Row[]> {
  const rawLimit = await runWorker<number>('./raw-machine.ts', {});
  const load: EngineLoad = { keys: 10_000, seconds: 5 };
  const figure = await runWorker<number>('./state-engine.ts', load);
  return [{ id: 'G4', what: 'state engine alone, one core', unit: '/s', figure, rawLimit, floor: 100_000 }];
}

const bare = await bareLimit();
const scale = machineScale(bare.perSecond);
process.stdout.write(
  `bare node:http with a durable LMDB put: ${Math.round(bare.perSecond)}/s; floors are scaled by ${scale.toFixed(2)}\n`,
);
const rows: Row[] = [];
if (wants('G1')) rows.push(...(await restPut(bare)));
if (wants('G2')) rows.push(...(await agentEvents()));
if (wants('G4')) rows.push(...(await stateEngine()));
process.stdout.write(`${printRows(rows, scale)}\n`);
if (!rows.every((row) => passes(row, scale))) process.exitCode = 1;

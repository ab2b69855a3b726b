import { printTable } from '../support/measured.ts';
import { cpuColumns } from '../support/thread-cpu.ts';
import { loadEvents } from './agent-throughput.ts';

/** The number of agents stays the same, so that each size has as many events in flight. */
const SESSIONS = 50;
const SIZES = [1_050, 10_000, 100_000];
const EVENTS = 150_000;

/** Measures how the CPU time of an event of G2 in protobuf grows with the number of keys, in µs. Returns a table. */
export async function keyGrowth(): Promise<string> {
  const rows: string[][] = [];
  for (const keys of SIZES) {
    const checksPerSession = keys / SESSIONS;
    const { cpu } = await loadEvents({ encoding: 'protobuf', events: EVENTS, sessions: SESSIONS, checksPerSession });
    const columns = cpuColumns(cpu);
    if (rows.length === 0) rows.push(['keys', ...Object.keys(columns)]);
    rows.push([keys.toLocaleString('en'), ...Object.values(columns).map((us) => us.toFixed(1))]);
  }
  return printTable(rows);
}

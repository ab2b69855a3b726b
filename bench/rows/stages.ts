import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownTimes, type ProfiledFunction } from '../support/cpu-profile.ts';
import { watchLoad } from '../support/machine-load.ts';
import { printTable } from '../support/measured.ts';
import { cpuColumns } from '../support/thread-cpu.ts';
import { loadEvents } from './agent-throughput.ts';

/** The argument of `npm run bench` that prints where the CPU time of an event goes. */
export const STAGES = 'stages';

const SECONDS = 10;
const SESSIONS = 300;
/** Functions that are named for each stage. */
const MOST = 6;

/** The stages of an event on the main thread, each with the files or names of functions that belong to it; the first that matches counts. */
const STAGE_OF: readonly (readonly [stage: string, belongs: (own: ProfiledFunction) => boolean])[] = [
  ['garbage', ({ name }) => name === '(garbage collector)'],
  ['XState', inFiles(/xstate/)],
  ['checksum and digest', ({ name, file }) => /crc32|^hash$/.test(name) || /store\/(sealed|ledger)\.ts/.test(file)],
  ['decode', inFiles(/src\/wire\/|src\/resources\//)],
  ['LMDB put', inFiles(/lmdb\/write|lmdb-store.*write/)],
  ['LMDB get', inFiles(/lmdb\//)],
  ['encode', ({ name, file }) => /encode-puts|slab/.test(file) || /^(pack|encode)/.test(name)],
  ['decode stored state', inFiles(/msgpackr|src\/store\/(codecs|encoded-event|packed)/)],
  ['look-ups and batches', inFiles(/src\/store\//)],
  ['merge and decide', inFiles(/src\/(rules|actors|machines)\//)],
  ['publish', inFiles(/src\/pipeline\//)],
  ['sockets and ws', inFiles(/node:|\/ws\/|src\/sessions\//)],
  ['other of V8 and Node.js', () => true],
];

function inFiles(pattern: RegExp): (own: ProfiledFunction) => boolean {
  return ({ file }) => pattern.test(file);
}

/** Profiles G2 in protobuf and returns a table of its stages, in µs of the main thread for each event. */
export async function stages(): Promise<string> {
  const profile = mkdtempSync(join(tmpdir(), 'mon-profile-'));
  const load = watchLoad();
  try {
    const { beganAtUs, cpu } = await loadEvents({
      encoding: 'protobuf',
      seconds: SECONDS,
      sessions: SESSIONS,
      profile,
    });
    const times = ownTimes(profile, beganAtUs, beganAtUs + SECONDS * 1e6);
    const threads = Object.entries(cpuColumns(cpu)).map(([thread, us]) => `${thread} ${us.toFixed(1)}`);
    return `profiled, ${threads.join(', ')}; ${load()}\n${printTable(tableOf(times, cpu.main))}`;
  } finally {
    rmSync(profile, { recursive: true, force: true });
  }
}

/** The profiler samples by the clock: on a busy machine only the shares of the functions count, which are scaled to `mainUs`. */
function tableOf(times: ReadonlyMap<ProfiledFunction, number>, mainUs: number): string[][] {
  const busy = [...times].filter(([{ name }]) => name !== '(idle)');
  const scale = mainUs / busy.reduce((sum, [, us]) => sum + us, 0);
  const ofStage = new Map<string, { us: number; functions: Map<string, number> }>();
  for (const [own, sampledUs] of busy) {
    const us = sampledUs * scale;
    const [stage = ''] = STAGE_OF.find(([, belongs]) => belongs(own)) ?? [];
    const sums = ofStage.get(stage) ?? { us: 0, functions: new Map<string, number>() };
    sums.us += us;
    sums.functions.set(own.name, (sums.functions.get(own.name) ?? 0) + us);
    ofStage.set(stage, sums);
  }
  const lines = STAGE_OF.flatMap(([stage]) => {
    const sums = ofStage.get(stage);
    if (sums === undefined) return [];
    const most = [...sums.functions].sort(([, one], [, other]) => other - one).slice(0, MOST);
    return [
      [stage, sums.us.toFixed(1), most.map(([name, us]) => `${name || 'anonymous'} ${us.toFixed(1)}`).join(', ')],
    ];
  });
  return [['stage', 'µs', 'most of it'], ...lines];
}

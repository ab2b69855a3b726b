import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fillStore } from '../store/example-migrations.ts';
import { FIXTURES, unpackFixture } from '../store/stored-fixtures.ts';
import { recordsOf } from '../store/stored-records.ts';
import { bundledProgram } from '../support/bundled-program.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { type ReportType, type Steps, upgradeExample } from './example-upgrade.ts';

const PROGRAM = bundledProgram(fileURLToPath(new URL('killed-upgrade.ts', import.meta.url)));
/** Enough for about twenty transactions. */
const RESOURCES = 6_000;
/** An upgrade that was killed this often is left to complete. */
const MOST_KILLS = 6;

interface Run {
  /** Whether the process reached its end. */
  finished: boolean;
  /** The time from the first report to the end. */
  tookMs: number;
}

interface Kill {
  /** The number of the report, from 1, at which the process kills itself. */
  atReport?: number;
  /** The time after the first report at which the process is killed. */
  afterMs?: number;
}

/** Runs one upgrade in a separate process. @throws Error when it fails without being killed */
async function run(stateDir: string, steps: Steps, { atReport = 0, afterMs }: Kill = {}): Promise<Run> {
  const child = fork(PROGRAM, [stateDir, steps, String(atReport)], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let begunAtMs: number | undefined;
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  child.on('message', () => {
    if (begunAtMs === undefined && afterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), afterMs);
    begunAtMs ??= performance.now();
  });
  await once(child, 'close');
  if (child.exitCode !== 0 && child.signalCode !== 'SIGKILL') throw new Error(`the upgrade failed: ${errors}`);
  const nowMs = performance.now();
  return { finished: child.exitCode === 0, tookMs: nowMs - (begunAtMs ?? nowMs) };
}

/** Runs one upgrade to its end in this process. Returns its reports. */
async function complete(stateDir: string, steps: Steps): Promise<ReportType[]> {
  const reports: ReportType[] = [];
  await upgradeExample(stateDir, steps, (type) => reports.push(type));
  return reports;
}

/** Returns the content of a store without the record of the upgrade, which contains a time and the path of the backup. */
async function contentOf(stateDir: string): Promise<unknown> {
  const records = await recordsOf(join(stateDir, 'store'));
  records.get('meta')?.delete('last-upgrade');
  return Object.fromEntries([...records].map(([table, values]) => [table, Object.fromEntries(values)]));
}

export interface UpgradeRound {
  /** The report or the time at which the process was killed. */
  kill: string;
  /** The content of the store after the upgrade was completed. */
  content: unknown;
  /** The same of a store that was upgraded without interruption. */
  expected: unknown;
  /** The names of the backups. */
  backups: string[];
}

/** Kills the upgrade of a fixture at each of its reports, and completes the upgrade each time. */
export async function killAtEachReport(): Promise<UpgradeRound[]> {
  const [fixture] = FIXTURES;
  if (fixture === undefined) throw new Error('there is no fixture');
  const directory = await temporaryDirectory();
  const stateDir = (name: string): string => join(directory.path, name);
  try {
    unpackFixture(fixture, join(stateDir('whole'), 'store'));
    const reports = await complete(stateDir('whole'), 'real');
    const expected = await contentOf(stateDir('whole'));
    const rounds: UpgradeRound[] = [];
    for (const [index, type] of reports.entries()) {
      const name = `round-${index}`;
      unpackFixture(fixture, join(stateDir(name), 'store'));
      const { finished } = await run(stateDir(name), 'real', { atReport: index + 1 });
      if (finished) throw new Error(`the upgrade was not killed at report ${index + 1}`);
      await complete(stateDir(name), 'real');
      const content = await contentOf(stateDir(name));
      rounds.push({ kill: type, content, expected, backups: readdirSync(join(stateDir(name), 'backups')) });
    }
    return rounds;
  } finally {
    await directory.remove();
  }
}

/**
 * Kills the upgrade of every fixture, which stores of all earlier releases have written, at a random report, and the upgrade that
 * continues it too. Completes it then.
 */
export async function killEachRelease(random: () => number): Promise<UpgradeRound[]> {
  const directory = await temporaryDirectory();
  const rounds: UpgradeRound[] = [];
  try {
    for (const fixture of FIXTURES) {
      const [whole, killed] = ['whole', 'killed'].map((name) => join(directory.path, `${fixture.name}-${name}`)) as [
        string,
        string,
      ];
      for (const stateDir of [whole, killed]) unpackFixture(fixture, join(stateDir, 'store'));
      const reports = await complete(whole, 'real');
      const kills: string[] = [];
      for (let kill = 0; kill < 2; kill += 1) {
        const atReport = 1 + Math.floor(random() * (reports.length / 2));
        const { finished } = await run(killed, 'real', { atReport });
        if (!finished) kills.push(String(atReport));
      }
      await complete(killed, 'real');
      const [content, expected] = [await contentOf(killed), await contentOf(whole)];
      const kill = `${fixture.name}, reports ${kills.join(' and ')}`;
      rounds.push({ kill, content, expected, backups: readdirSync(join(killed, 'backups')) });
    }
    return rounds;
  } finally {
    await directory.remove();
  }
}

/** Kills an upgrade at random instants of the time that it takes here, until it is complete. Returns how many kills that took. */
export async function killAtRandom(random: () => number): Promise<UpgradeRound & { kills: number }> {
  const directory = await temporaryDirectory();
  const [whole, killed] = [join(directory.path, 'whole'), join(directory.path, 'killed')];
  try {
    await fillStore(join(whole, 'store'), RESOURCES);
    cpSync(whole, killed, { recursive: true });
    const { tookMs } = await run(whole, 'example');
    let kills = 0;
    let finished = false;
    while (!finished && kills < MOST_KILLS) {
      // The first kill is early enough to find the upgrade unfinished.
      const longestMs = kills === 0 ? tookMs / 2 : tookMs;
      ({ finished } = await run(killed, 'example', { afterMs: random() * longestMs }));
      if (!finished) kills += 1;
    }
    if (!finished) await complete(killed, 'example');
    const [content, expected] = [await contentOf(killed), await contentOf(whole)];
    return {
      kill: `${kills} random instants`,
      content,
      expected,
      backups: readdirSync(join(killed, 'backups')),
      kills,
    };
  } finally {
    await directory.remove();
  }
}

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { UpgradeProgress } from '../../src/store/upgrade.ts';
import { fillStore } from '../store/example-migrations.ts';
import { FIXTURES, unpackFixture } from '../store/stored-fixtures.ts';
import { recordsOf } from '../store/stored-records.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const PROGRAM = fileURLToPath(new URL('killed-upgrade.js', import.meta.url));
/** Enough for about twenty transactions. */
const RESOURCES = 6_000;
/** About the time that the upgrade of these resources takes. */
const LONGEST_LIFE_MS = 150;

type ReportType = UpgradeProgress['type'];

interface Run {
  /** Whether the process reached its end. */
  finished: boolean;
  reports: ReportType[];
}

interface Kill {
  /** The number of the report, from 1, at which the process kills itself. */
  atReport?: number;
  /** The time after the first report at which the process is killed. */
  afterMs?: number;
}

/** Runs one upgrade in a separate process. @throws Error when it fails without being killed */
async function run(stateDir: string, steps: 'example' | 'real', { atReport = 0, afterMs }: Kill = {}): Promise<Run> {
  const args = [join(stateDir, 'store'), join(stateDir, 'backups'), steps, String(atReport)];
  const child = fork(PROGRAM, args, { execArgv: [], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  const reports: ReportType[] = [];
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  child.on('message', (type) => {
    if (reports.length === 0 && afterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), afterMs);
    reports.push(type as ReportType);
  });
  await once(child, 'close');
  if (child.exitCode !== 0 && child.signalCode !== 'SIGKILL') throw new Error(`the upgrade failed: ${errors}`);
  return { finished: child.exitCode === 0, reports };
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
    const { reports } = await run(stateDir('whole'), 'real');
    const expected = await contentOf(stateDir('whole'));
    const rounds: UpgradeRound[] = [];
    for (const [index, type] of reports.entries()) {
      const name = `round-${index}`;
      unpackFixture(fixture, join(stateDir(name), 'store'));
      const { finished } = await run(stateDir(name), 'real', { atReport: index + 1 });
      if (finished) throw new Error(`the upgrade was not killed at report ${index + 1}`);
      await run(stateDir(name), 'real');
      const content = await contentOf(stateDir(name));
      rounds.push({ kill: type, content, expected, backups: readdirSync(join(stateDir(name), 'backups')) });
    }
    return rounds;
  } finally {
    await directory.remove();
  }
}

/** Kills an upgrade at random instants, again and again, until it is complete. Returns how many kills that took. */
export async function killAtRandom(random: () => number): Promise<UpgradeRound & { kills: number }> {
  const directory = await temporaryDirectory();
  const [whole, killed] = [join(directory.path, 'whole'), join(directory.path, 'killed')];
  try {
    await fillStore(join(whole, 'store'), RESOURCES);
    cpSync(whole, killed, { recursive: true });
    await run(whole, 'example');
    let kills = 0;
    while (!(await run(killed, 'example', { afterMs: random() * LONGEST_LIFE_MS })).finished) kills += 1;
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

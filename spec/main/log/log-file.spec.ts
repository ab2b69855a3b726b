import { readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { LogFileConfig } from '../../../src/config/flags/log-file-flags.ts';
import { LogFile } from '../../../src/main/log/log-file.ts';
import { createLogger } from '../../../src/main/log/logger.ts';
import { eventually } from '../../support/eventually.ts';
import { perTest } from '../../support/fixture.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const NOW_MS = Date.parse('2026-06-01T00:00:00Z');
const DAY_MS = 86_400_000;
const FILE = 'mon.log';

describe('a log file', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  const clock = perTest(() => Promise.resolve(new ManualClock(NOW_MS)));
  const path = (name = FILE): string => join(directory.path, name);
  const names = async (): Promise<string[]> => (await readdir(directory.path)).toSorted();
  const untilNamesAre = (expected: readonly string[]): Promise<unknown> =>
    eventually(names, (found) => found.join() === expected.toSorted().join(), {
      what: `the files ${expected.join()}`,
    });
  const rotatedName = (atMs: number): string => `${FILE}.${atMs}000000`;

  async function openFile(limits: Partial<LogFileConfig> = {}) {
    const problems: string[] = [];
    const log = createLogger('log-file', 'warn', { write: (line) => problems.push(line) });
    const file = await LogFile.open(
      { file: path(), maxBytes: 100, retentionMs: 7 * DAY_MS, maxRotated: 10, reaperIntervalMs: 60_000, ...limits },
      { clock, log },
    );
    const writeAll = async (...lines: string[]): Promise<void> => {
      for (const line of lines) file.write(line);
      await new Promise<void>((done) => {
        file.flush(done);
      });
    };
    return { file, problems, writeAll };
  }

  it('contains all lines in order, after those of an earlier run', async () => {
    await writeFile(path(), 'before\n');
    const { file, writeAll } = await openFile({ maxBytes: 0 });
    await writeAll(...Array.from({ length: 500 }, (_, index) => `line ${index}\n`));
    await file.stop();
    const expected = ['before', ...Array.from({ length: 500 }, (_, index) => `line ${index}`), ''];
    expect((await readFile(path(), 'utf8')).split('\n')).to.deep.equal(expected);
  });

  it('is not readable by others', async () => {
    const { file } = await openFile();
    expect(((await stat(path())).mode & 0o777).toString(8)).to.equal('640');
    await file.stop();
  });

  it('is rotated before it grows above its limit, and the rotated file is compressed', async () => {
    const { file, writeAll } = await openFile();
    await writeAll(`${'a'.repeat(59)}\n`);
    await writeAll(`${'b'.repeat(59)}\n`);
    await untilNamesAre([FILE, `${rotatedName(NOW_MS)}.gz`]);
    const rotated = gunzipSync(await readFile(path(`${rotatedName(NOW_MS)}.gz`)));
    expect(rotated.toString()).to.equal(`${'a'.repeat(59)}\n`);
    expect(await readFile(path(), 'utf8')).to.equal(`${'b'.repeat(59)}\n`);
    await file.stop();
  });

  it('never exceeds its limit when many lines are written at once, and loses none of them', async () => {
    const { file, writeAll } = await openFile({ maxRotated: 0 });
    const lines = Array.from({ length: 40 }, (_, index) => `${String(index).padStart(29, '0')}\n`);
    await writeAll(...lines);
    await clock.advance(60_000);
    await eventually(async () => (await names()).filter((name) => !name.endsWith('.gz')).length === 1);
    const parts = await Promise.all(
      (await names())
        .filter((name) => name.endsWith('.gz'))
        .map(async (name) => gunzipSync(await readFile(path(name)))),
    );
    expect(Math.max(...parts.map(({ length }) => length))).to.be.at.most(100);
    expect([...parts.map(String), await readFile(path(), 'utf8')].join('')).to.equal(lines.join(''));
    await file.stop();
  });

  it('leaves no more rotated files than its limit, the newest ones', async () => {
    for (const day of [1, 2, 3]) await writeFile(path(`${rotatedName(NOW_MS - day * DAY_MS)}.gz`), '');
    const { file } = await openFile({ maxRotated: 2 });
    await untilNamesAre([FILE, ...[2, 1].map((day) => `${rotatedName(NOW_MS - day * DAY_MS)}.gz`)]);
    await file.stop();
  });

  it('has its rotated files removed when they are too old, and no other files', async () => {
    const others = [`${FILE}.1`, 'other.log', `${FILE}.old`];
    for (const name of others) await writeFile(path(name), '');
    await writeFile(path(`${rotatedName(NOW_MS - 6.5 * DAY_MS)}.gz`), '');
    const { file } = await openFile();
    await clock.advance(0.4 * DAY_MS);
    expect(await names()).to.include(`${rotatedName(NOW_MS - 6.5 * DAY_MS)}.gz`);
    await clock.advance(0.2 * DAY_MS);
    await untilNamesAre([FILE, ...others].toSorted());
    await file.stop();
  });

  it('finishes the compression that an earlier process began', async () => {
    await writeFile(path(rotatedName(NOW_MS)), 'whole\n');
    await writeFile(path(`${rotatedName(NOW_MS)}.gz.part`), 'half');
    const { file } = await openFile();
    await untilNamesAre([FILE, `${rotatedName(NOW_MS)}.gz`]);
    expect(gunzipSync(await readFile(path(`${rotatedName(NOW_MS)}.gz`))).toString()).to.equal('whole\n');
    await file.stop();
  });

  it('is created again after it was renamed', async () => {
    const { file, writeAll } = await openFile();
    await writeAll('one\n');
    await rename(path(), path('moved'));
    await file.reopen();
    await writeAll('two\n');
    expect(await readFile(path('moved'), 'utf8')).to.equal('one\n');
    expect(await readFile(path(), 'utf8')).to.equal('two\n');
    await file.stop();
  });

  it('that cannot be opened is an error which names it', async () => {
    let message = '';
    await openFile({ file: path('missing/mon.log') }).catch((error: unknown) => (message = (error as Error).message));
    expect(message).to.match(/^cannot open .*missing\/mon.log: ENOENT/);
  });

  it('counts the lines that it could not write, and continues when it can', async () => {
    const { file, problems, writeAll } = await openFile();
    await rename(directory.path, `${directory.path}-away`);
    await file.reopen();
    await writeAll('lost\n');
    await rename(`${directory.path}-away`, directory.path);
    await writeAll('kept\n');
    expect(await readFile(path(), 'utf8')).to.equal('kept\n');
    expect(problems.map((line) => (JSON.parse(line) as { msg: string }).msg)).to.deep.equal([
      'log file cannot be written or rotated',
      'lines of the log were lost',
    ]);
    await file.stop();
  });
});

describe('a log that is redirected to a file', () => {
  it('writes there from then on, children included, and fatal lines to both', () => {
    const first: string[] = [];
    const second: string[] = [];
    const log = createLogger('mon-agent', 'info', { write: (line) => first.push(line) });
    const child = log.child({ component: 'api' });
    log.info({}, 'one');
    log.redirect({ write: (line) => second.push(line) });
    child.info({}, 'two');
    log.fatal({}, 'three');
    const messages = (lines: string[]) => lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(messages(first)).to.deep.equal(['one', 'three']);
    expect(messages(second)).to.deep.equal(['two', 'three']);
  });
});

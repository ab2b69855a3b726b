import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ProcessReaper } from '../../src/exec/process-reaper.ts';
import { runCommand } from '../../src/exec/process-group.ts';
import { systemClock } from '../../src/main/process/system-clock.ts';
import { eventually } from '../support/eventually.ts';
import { perTest } from '../support/fixture.ts';
import { RecordedLog } from '../support/recorded-log.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { childrenOf } from './children-of.ts';
import { isRunning } from './is-running.ts';
import { pidsIn } from './pids-in.ts';

const NOBODY = 65_534;

describe('the process reaper', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  const log = perTest(() => new RecordedLog());
  const reaper = perTest(
    () => new ProcessReaper(log),
    (made) => made.close(),
  );
  const abort = perTest(
    () => new AbortController(),
    (made) => made.abort(),
  );

  const reapers = (): number[] => childrenOf(process.pid, 'mon-reaper');

  /** Runs a command that notes its process, `$$`, and resolves with the number of that when it has begun. */
  async function begin(name: string, command: string): Promise<number> {
    const file = `${directory.path}/${name}`;
    const noting = command.replace('NOTED', () => `echo $$ >> ${file}`);
    void runCommand({ command: noting, signal: abort.signal }, systemClock, reaper);
    const [pid] = await eventually(
      () => pidsIn(file),
      (pids) => pids.length > 0,
    );
    return pid ?? 0;
  }

  it('is started with the first command', async () => {
    expect(reapers()).to.deep.equal([]);
    await runCommand({ command: 'true' }, systemClock, reaper);
    expect(reapers()).to.have.lengthOf(1);
    await runCommand({ command: 'true' }, systemClock, reaper);
    expect(reapers()).to.have.lengthOf(1);
  });

  it('ends the groups that it holds when it is closed, also those that ignore SIGTERM', async () => {
    const asked = `${directory.path}/asked`;
    const mild = await begin('mild', `trap 'echo $$ > ${asked}; exit' TERM; NOTED; sleep 600 & wait`);
    const stubborn = await begin('stubborn', `trap '' TERM; NOTED; while :; do sleep 1; done`);
    reaper.close();
    await eventually(() => !isRunning(mild), Boolean, { what: 'the end of the first' });
    expect(pidsIn(asked)).to.deep.equal([mild]);
    await eventually(() => !isRunning(stubborn), Boolean, { what: 'the end of the second' });
    await eventually(() => reapers().length === 0, Boolean, { what: 'its own end' });
  });

  it('ends a group that this program was not able to register before its end', async () => {
    reaper.hold = () => () => undefined;
    const early = await begin('early', 'NOTED; exec sleep 600');
    reaper.close();
    await eventually(() => !isRunning(early), Boolean, { what: 'the end of the group', withinMs: 5_000 });
  });

  it('takes no group from a command of another account, which would choose whom the reaper ends', async function () {
    if (process.getuid?.() !== 0) return;
    const victim = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
    const tools = join(directory.path, 'tools');
    mkdirSync(tools, { mode: 0o755 });
    chmodSync(directory.path, 0o755);
    // It is found before the shell of the system, and has all descriptors of that.
    const shell = `#!/bin/sh\nfor fd in 3 4 5; do echo "add ${victim.pid}" >&$fd; done 2> /dev/null\nexec /bin/sh "$@"\n`;
    writeFileSync(join(tools, 'sh'), shell, { mode: 0o755 });
    const account = { name: 'nobody', uid: NOBODY, gid: NOBODY, home: '/' };
    const environment = [`PATH=${tools}`];
    const held = await new Promise<number>((resolve) => {
      const file = join(directory.path, 'open');
      writeFileSync(file, '', { mode: 0o666 });
      chmodSync(file, 0o666);
      const command = `echo $$ >> ${file}; exec sleep 600`;
      void runCommand({ command, environment, account, signal: abort.signal }, systemClock, reaper);
      void eventually(
        () => pidsIn(file),
        (pids) => pids.length > 0,
      ).then(([pid = 0]) => {
        resolve(pid);
      });
    });
    reaper.close();
    await eventually(() => !isRunning(held), Boolean, { what: 'the end of the command', withinMs: 10_000 });
    await eventually(() => reapers().length === 0, Boolean, { what: 'the end of the reaper', withinMs: 10_000 });
    expect(isRunning(victim.pid ?? 0)).to.equal(true);
    victim.kill('SIGKILL');
  });

  it('releases groups that have ended: a process that a command left behind continues', async () => {
    const file = `${directory.path}/left`;
    const command = `sleep 600 > ${directory.path}/out 2>&1 & echo $! >> ${file}`;
    expect(await runCommand({ command }, systemClock, reaper)).to.include({ status: 0 });
    const held = await begin('held', 'NOTED; exec sleep 600');
    reaper.close();
    await eventually(() => !isRunning(held), Boolean, { what: 'the end of what it held', withinMs: 10_000 });
    await eventually(() => reapers().length === 0, Boolean, { what: 'its own end', withinMs: 10_000 });
    const [left = 0] = pidsIn(file);
    expect(isRunning(left)).to.equal(true);
    process.kill(left, 'SIGKILL');
  });

  it('is started again with the next command after it was killed, and holds the groups that already run', async () => {
    const first = await begin('first', 'NOTED; exec sleep 600');
    for (const pid of reapers()) process.kill(pid, 'SIGKILL');
    await eventually(() => reapers().length === 0, Boolean, { what: 'the end of the reaper' });
    await eventually(
      async () => {
        await runCommand({ command: 'true' }, systemClock, reaper);
        return reapers().length === 1;
      },
      Boolean,
      { what: 'another reaper' },
    );
    expect(isRunning(first)).to.equal(true);
    reaper.close();
    await eventually(() => !isRunning(first), Boolean, { what: 'the end of the first command', withinMs: 10_000 });
  });

  it('reports once that it cannot be started, and commands run without it', async () => {
    const without = new ProcessReaper(log, `${directory.path}/no-such-shell`);
    for (let n = 0; n < 3; n += 1) {
      expect(await runCommand({ command: 'echo fine' }, systemClock, without)).to.include({ output: 'fine\n' });
    }
    expect(log.lines.map(({ level, msg }) => [level, msg])).to.deep.equal([
      ['warn', 'could not start the process reaper: commands will outlive this program if it is killed'],
    ]);
    without.close();
  });
});

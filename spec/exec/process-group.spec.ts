import { expect } from 'chai';
import { MAX_OUTPUT_BYTES, runCommand } from '../../src/exec/process-group.ts';
import type { ProcessReaper } from '../../src/exec/process-reaper.ts';
import { systemClock } from '../../src/main/process/system-clock.ts';
import { eventually } from '../support/eventually.ts';
import { isRunning } from './is-running.ts';

const run = (request: Parameters<typeof runCommand>[0]) => runCommand(request, systemClock);

describe('a command', () => {
  for (const { command, status, output } of [
    { command: 'echo hi', status: 0, output: 'hi\n' },
    { command: '', status: 0, output: '' },
    { command: 'exit 255', status: 255, output: '' },
    { command: 'echo "$0"', status: 0, output: 'sh\n' },
    { command: "printf '\\377'", status: 0, output: '\ufffd' },
    {
      command: 'for i in 1 2 3 4; do echo o$i; echo e$i >&2; done',
      status: 0,
      output: 'o1\ne1\no2\ne2\no3\ne3\no4\ne4\n',
    },
  ]) {
    it(`that is ${JSON.stringify(command)} ends with ${status}`, async () => {
      expect(await run({ command })).to.include({ ending: 'exited', status, output, signal: undefined });
    });
  }

  it('that is not found ends with 127 and the message of the shell', async () => {
    const { status, output } = await run({ command: 'no-such-command-here' });
    expect(status).to.equal(127);
    expect(output).to.match(/^sh: .*no-such-command-here: not found\n$/);
  });

  it('reports the signal that killed its shell', async () => {
    expect(await run({ command: 'kill -TERM $$' })).to.include({ ending: 'signalled', signal: 'SIGTERM' });
  });

  it('reads its standard input, which is empty when there is none', async () => {
    expect((await run({ command: 'cat', stdin: 'in' })).output).to.equal('in');
    expect((await run({ command: 'cat' })).output).to.equal('');
  });

  it('need not read its standard input', async () => {
    expect(await run({ command: 'true', stdin: 'x'.repeat(1_000_000) })).to.include({ ending: 'exited', status: 0 });
  });

  it('inherits the environment, with search paths put in front and malformed entries dropped', async () => {
    const environment = ['A=1', 'A=2=3', 'PATH=/opt/x', 'LD_LIBRARY_PATH=/opt/lib', 'nonsense', '=x'];
    const { output } = await run({ command: 'echo "$A"; echo "$PATH"; echo "$LD_LIBRARY_PATH"', environment });
    const inherited = process.env['LD_LIBRARY_PATH'];
    const libraries = inherited ? `/opt/lib:${inherited}` : '/opt/lib';
    expect(output).to.equal(`2=3\n/opt/x:${process.env['PATH']}\n${libraries}\n`);
  });

  it('is done only when its output is closed', async () => {
    const { output, durationMs } = await run({ command: '(sleep 0.3; echo late) & echo early' });
    expect(output).to.equal('early\nlate\n');
    expect(durationMs).to.be.greaterThan(290);
  });

  it('is killed with its whole group after its timeout, and keeps the output so far', async () => {
    const result = await run({ command: 'sh -c "sleep 60 & echo \\$!; wait"', timeoutMs: 300 });
    expect(result).to.include({ ending: 'timed-out', status: 2 });
    const [, pid] = /^Execution timed out\n(\d+)\n$/.exec(result.output) ?? [];
    await eventually(() => !isRunning(Number(pid)));
  });

  it('is done after its timeout even when a process that left the group holds its output', async () => {
    const command = 'setsid sh -c "echo \\$\\$; exec sleep 60" & sleep 60';
    const { output, durationMs, status } = await run({ command, timeoutMs: 300 });
    const pid = Number(/(\d+)/.exec(output)?.[1]);
    process.kill(pid, 'SIGKILL');
    expect(status).to.equal(2);
    expect(durationMs).to.be.lessThan(10_000);
  });

  it('is killed when its caller gives up', async () => {
    const abort = new AbortController();
    const running = run({ command: 'sleep 60', signal: abort.signal });
    abort.abort();
    expect(await running).to.include({ ending: 'aborted' });
    expect(await run({ command: 'sleep 60', signal: abort.signal })).to.include({ ending: 'aborted' });
  });

  it('is not started after its caller has given up', async () => {
    const signal = AbortSignal.abort();
    // A start asks the reaper for its input first.
    const reaper = { ready: () => expect.fail('the command was started') } as unknown as ProcessReaper;
    const { ending } = await runCommand({ command: 'true', signal }, systemClock, reaper);
    expect(ending).to.equal('aborted');
  });

  describe('that has exited while a child holds its output', () => {
    const request = { command: 'sleep 30 & echo $!', lingerMs: 20_000 };
    const endChild = (output: string): boolean => process.kill(Number(output));

    it('has exited, although its timeout passes meanwhile', async () => {
      const { output, ...result } = await run({ ...request, timeoutMs: 500 });
      endChild(output);
      expect(result).to.include({ ending: 'exited', status: 0 });
      expect(result.durationMs).to.be.lessThan(10_000);
    });

    it('has exited, although its caller gives up meanwhile', async () => {
      const abort = new AbortController();
      const running = run({ ...request, signal: abort.signal });
      setTimeout(() => {
        abort.abort();
      }, 500);
      const { output, ...result } = await running;
      endChild(output);
      expect(result).to.include({ ending: 'exited', status: 0 });
      expect(result.durationMs).to.be.lessThan(10_000);
    });
  });

  it('that cannot be started has status 3 and the text of the system', async () => {
    const tooLong = await run({ command: `: ${'x'.repeat(200_000)}` });
    expect(tooLong).to.include({ ending: 'not-started', status: 3 });
    expect(tooLong.output).to.contain('E2BIG');
    expect(await run({ command: 'true\0' })).to.include({ ending: 'not-started', status: 3 });
  });

  it('may write more than is kept: the rest is discarded, and a line says so', async () => {
    const { output, status } = await run({
      command: `head -c ${MAX_OUTPUT_BYTES + 1234} /dev/zero | tr '\\0' x; exit 7`,
    });
    expect(status).to.equal(7);
    const note = `\nOutput cut at ${MAX_OUTPUT_BYTES} bytes, 1234 bytes discarded\n`;
    expect(output.length).to.equal(MAX_OUTPUT_BYTES + note.length);
    expect(output.endsWith(note)).to.equal(true);
  });
});

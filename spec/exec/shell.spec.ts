import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runCommand } from '../../src/exec/process-group.ts';
import { environmentWith, shellFor } from '../../src/exec/shell.ts';
import { systemClock } from '../../src/main/process/system-clock.ts';

describe('the shell of a command', () => {
  const alone = { separatesErrors: false, registers: false };
  for (const [platform, file, joinsStreams] of [
    ['linux', 'sh', true],
    ['darwin', 'sh', true],
    ['freebsd', 'sh', true],
    ['win32', 'cmd', false],
  ] as const) {
    it(`is ${file} on ${platform}`, () => {
      const shell = shellFor(platform, 'check "a b" %X%', alone);
      expect(shell).to.include({ file, joinsStreams });
      expect(shell.args.at(-1)).to.equal('check "a b" %X%');
    });
  }

  it('of Windows gets the text of the command unescaped, without a console window (spec/03 4.3)', () => {
    const { args, options } = shellFor('win32', 'check "a b" & echo %X%', { separatesErrors: true, registers: true });
    expect(args).to.deep.equal(['/c', 'check "a b" & echo %X%']);
    expect(options).to.deep.equal({ detached: false, windowsVerbatimArguments: true, windowsHide: true });
  });
});

describe('the environment of a command (spec/03 4.4)', () => {
  const own = { Path: 'C:\\bin', Temp: 'T' };
  it('has names in upper case on Windows, whose search paths are prepended with a semicolon', () => {
    expect(environmentWith(['path=C:\\asset', 'temp=U', 'bad'], own, 'win32')).to.deep.equal({
      PATH: 'C:\\asset;C:\\bin',
      TEMP: 'U',
    });
  });

  it('has names as they are on other systems', () => {
    expect(environmentWith(['PATH=/asset', 'temp=U'], { PATH: '/bin', Temp: 'T' }, 'linux')).to.deep.equal({
      PATH: '/asset:/bin',
      Temp: 'T',
      temp: 'U',
    });
  });
});

describe('a command on Windows', () => {
  let directory: string;
  const { PATH } = process.env;

  /** Programs in place of those of Windows. */
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'mon-windows-'));
    const program = (name: string, script: string): void => {
      writeFileSync(join(directory, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    };
    program('cmd', `[ "$1" = /c ] && exec sh -c "$2"`);
    program('taskkill', `echo "$*" > '${directory}/killed'; kill -KILL "$4"`);
    process.env['PATH'] = `${directory}:${PATH}`;
  });
  afterEach(() => {
    process.env['PATH'] = PATH;
    rmSync(directory, { recursive: true });
  });

  it('runs in cmd, and its output has both streams', async () => {
    const command = 'echo out; echo err >&2; exit 3';
    const result = await runCommand({ command }, systemClock, undefined, 'win32');
    expect(result).to.include({ ending: 'exited', status: 3, errors: '' });
    expect(result.output.split('\n').toSorted()).to.deep.equal(['', 'err', 'out']);
  });

  it('is killed by taskkill after its timeout, with all that it started (spec/03 4.3)', async () => {
    const result = await runCommand({ command: 'exec sleep 60', timeoutMs: 100 }, systemClock, undefined, 'win32');
    expect(result).to.include({ ending: 'timed-out', status: 2 });
    expect(result.output).to.match(/^Execution timed out\n/);
    expect(readFileSync(join(directory, 'killed'), 'utf8')).to.match(/^\/T \/F \/PID \d+\n$/);
  });
});

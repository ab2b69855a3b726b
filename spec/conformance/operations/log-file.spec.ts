import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { AgentProcess } from '../../agent/agent-process.ts';
import { FakeBackend } from '../../agent/fake-backend.ts';
import { runProgram } from '../../support/backend-process.ts';
import { eventually, inTime } from '../../support/eventually.ts';
import { perSuite } from '../../support/fixture.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const PROGRAM = fileURLToPath(new URL('../../../bin/mon-backend.js', import.meta.url));
const FREE_PORTS = [
  '--api-listen-address=127.0.0.1:0',
  '--agent-host=127.0.0.1',
  '--agent-port=0',
  '--legacy-api-listen-address=',
];
const READY = 'backend is running and ready to accept events';

describe('--log-file', () => {
  const directory = perSuite(temporaryDirectory, (made) => made.remove());
  const at = (name: string): string => join(directory.path, name);
  const textOf = (name: string): Promise<string> => readFile(at(name), 'utf8').catch(() => '');
  const untilExists = (name: string): Promise<unknown> => eventually(() => existsSync(at(name)));
  const untilIn = (name: string, text: string): Promise<unknown> =>
    eventually(
      () => textOf(name),
      (found) => found.includes(text),
      { withinMs: 15_000 },
    );

  describe('of the agent', () => {
    const backend = perSuite(
      () => FakeBackend.start(),
      (fake) => fake.stop(),
    );
    const agent = perSuite(
      () => Promise.resolve(AgentProcess.start(backend.url, '--log-file', at('agent.log'))),
      (program) => program.kill(),
    );

    it('receives the lines in place of standard error', async () => {
      await untilIn('agent.log', 'configuration successfully validated');
      expect(agent.stderr).to.equal('');
    });

    it('is created again at SIGHUP, after it was renamed', async () => {
      await rename(at('agent.log'), at('agent.log.moved'));
      agent.child.kill('SIGHUP');
      await untilExists('agent.log');
      agent.child.kill('SIGUSR1');
      await untilIn('agent.log', 'set log level to');
      expect(agent.isAlive).to.equal(true);
    });

    it('has the last line of an agent that was stopped', async () => {
      agent.child.kill('SIGTERM');
      expect(await agent.ended()).to.equal(0);
      expect(await textOf('agent.log')).to.contain('received, shutting down agent');
    });
  });

  describe('of the backend', () => {
    it('receives the lines in place of standard error, and is created again at SIGHUP', async () => {
      const places = ['--state-dir', at('state'), '--log-file', at('backend.log')];
      const child = spawn(process.execPath, [PROGRAM, 'start', ...places, ...FREE_PORTS], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let stderr = '';
      child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
      const ended = once(child, 'close');
      try {
        await untilIn('backend.log', READY);
        await rename(at('backend.log'), at('backend.log.moved'));
        child.kill('SIGHUP');
        await untilExists('backend.log');
        child.kill('SIGUSR1');
        await untilIn('backend.log', 'log level set');
        child.kill('SIGTERM');
        await inTime(ended, 'the end of the backend', 15_000);
      } finally {
        child.kill('SIGKILL');
      }
      expect(child.exitCode).to.equal(0);
      expect(stderr).to.equal('');
      expect(await textOf('backend.log.moved')).to.contain(READY);
    });

    it('that cannot be opened ends the start, and standard error names the flag and the file', async () => {
      const { code, stderr } = await runProgram(['start', '-d', at('other'), '--log-file', at('missing/b.log')]);
      expect(code).to.equal(1);
      expect(stderr).to.contain(`log-file: cannot open ${at('missing/b.log')}: ENOENT`);
      expect(existsSync(at('other'))).to.equal(false);
    });
  });
});

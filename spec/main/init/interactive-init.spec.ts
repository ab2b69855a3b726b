import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { ADMIN } from '../../support/api-client.ts';
import { BackendProcess, initialiseState } from '../../support/backend-process.ts';
import { eventually } from '../../support/eventually.ts';
import { perTest } from '../../support/fixture.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const PROGRAM = fileURLToPath(new URL('../../../bin/mon-backend.js', import.meta.url));
const QUESTIONS = [
  'Cluster Admin Username: ',
  'Cluster Admin Password: ',
  'Retype Cluster Admin Password: ',
  'Cluster Admin API Key: ',
];

describe('mon-backend init --interactive', function () {
  this.timeout(30_000);
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  let stateDir: string;

  beforeEach(() => {
    stateDir = join(directory.path, 'state');
  });

  /** Each answer is given when its question has been asked; after the last one the input ends. */
  async function answer(answers: readonly string[], { onTerminal = false } = {}) {
    const command = [process.execPath, PROGRAM, 'init', '--interactive', '--state-dir', stateDir];
    const [file = '', ...args] = onTerminal ? ['script', '-qec', command.join(' '), '/dev/null'] : command;
    const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const ended = once(child, 'close');
    try {
      for (const [index, text] of answers.entries()) {
        await eventually(() => stdout.includes(QUESTIONS[index] ?? ''), Boolean, {
          what: QUESTIONS[index] ?? '',
          withinMs: 15_000,
        });
        child.stdin.write(`${text}\n`);
      }
      if (!onTerminal) child.stdin.end();
      await ended;
    } finally {
      child.kill('SIGKILL');
    }
    return { code: child.exitCode, stdout, stderr };
  }

  async function letsIn(): Promise<boolean> {
    const backend = await BackendProcess.start({ stateDir });
    try {
      await backend.login();
      return true;
    } finally {
      await backend.stop();
    }
  }

  it('asks for the administrator, who can then log in', async () => {
    const { code, stdout } = await answer([ADMIN.username, ADMIN.password, ADMIN.password, '']);
    expect(code).to.equal(0);
    expect(stdout.replaceAll('\n', '')).to.equal(QUESTIONS.join(''));
    expect(await letsIn()).to.equal(true);
  });

  it('does not show passwords and keys on a terminal', async () => {
    const key = 'b3a1c5de-3f0c-4b9a-8f52-7d1f0c2f9d10';
    const { code, stdout } = await answer([ADMIN.username, ADMIN.password, ADMIN.password, key], { onTerminal: true });
    expect(code).to.equal(0);
    expect(stdout).to.contain(ADMIN.username);
    expect(stdout).to.not.contain(ADMIN.password);
    expect(stdout).to.not.contain(key);
    expect(await letsIn()).to.equal(true);
  });

  const refused: [string, string[], string][] = [
    [
      'when the passwords differ',
      ['admin', 'P@ssw0rd!', 'P@ssw0rd?'],
      "Password confirmation doesn't match the password",
    ],
    ['with a password of seven bytes', ['admin', '1234567', '1234567', ''], 'at least 8 characters'],
    [
      'with the name of the user of the agents',
      ['agent', 'P@ssw0rd!', 'P@ssw0rd!', ''],
      'cluster-admin-username must not be agent',
    ],
    ['with a key that is no UUID', ['admin', 'P@ssw0rd!', 'P@ssw0rd!', 'x'], 'must be a UUID'],
    ['without an answer', ['admin'], 'the input ended before an answer to'],
  ];
  for (const [what, answers, reason] of refused) {
    it(`is refused ${what}, and leaves the store uninitialised`, async () => {
      const { code, stderr } = await answer(answers);
      expect(code).to.equal(1);
      expect(stderr).to.contain(reason);
      await initialiseState(stateDir);
    });
  }
});

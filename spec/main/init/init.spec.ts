import { join } from 'node:path';
import { expect } from 'chai';
import { ADMIN, ApiClient } from '../../support/api-client.ts';
import { runCommand } from '../../support/backend-command.ts';
import { BackendProcess, initialiseState, runProgram } from '../../support/backend-process.ts';
import { perTest } from '../../support/fixture.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const admin = (username: string, password: string): string[] => [
  '--cluster-admin-username',
  username,
  '--cluster-admin-password',
  password,
];
const INIT = admin(ADMIN.username, ADMIN.password);

describe('mon-backend init', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  let stateDir: string;

  beforeEach(() => {
    stateDir = join(directory.path, 'state');
  });

  const commandLine = (...args: string[]): string[] => ['init', '--state-dir', stateDir, ...args];
  const init = (...args: string[]) => runCommand(commandLine(...args));

  it('exits with 0 once, then with 3, or with 0 if an initialised store is to be ignored', async () => {
    expect((await init(...INIT)).code).to.equal(0);
    expect((await init(...INIT)).code).to.equal(3);
    expect((await init(...INIT, '--ignore-already-initialized')).code).to.equal(0);
  });

  it('succeeds once when three run at the same time', async () => {
    const initialised = () => runProgram(commandLine(...INIT, '--wait'));
    const codes = await Promise.all([initialised(), initialised(), initialised()]);
    expect(codes.map(({ code }) => code)).to.have.members([0, 3, 3]);
  });

  it('initialises the store of a running backend, where the administrator can log in at once', async () => {
    const backend = await BackendProcess.start({ stateDir });
    try {
      const before = await new ApiClient(backend.apiPort).get('/auth');
      expect(before.status).to.equal(401);
      expect((await init(...INIT)).code).to.equal(0);
      const api = await backend.login();
      expect((await api.get('/api/core/v2/namespaces/default')).status).to.equal(200);
      expect((await init(...INIT)).code).to.equal(3);
    } finally {
      await backend.stop();
    }
  });

  const refused: [string, string[], string][] = [
    ['without a name and a password', [], 'cluster-admin-username'],
    ['without a password', ['--cluster-admin-username', 'admin'], 'cluster-admin-password'],
    ['with a password of seven characters', admin('admin', '1234567'), 'at least 8'],
    ['with a user name of capitals', admin('Admin', '12345678'), 'username'],
    ['with the name of the user of the agents', admin('agent', '12345678'), 'cluster-admin-username must not be agent'],
    ['with an API key that is no UUID', [...INIT, '--cluster-admin-api-key', 'x'], 'must be a UUID'],
    ['with an unknown flag', [...INIT, '--nonsense', '1'], 'nonsense'],
  ];
  for (const [what, args, reason] of refused) {
    it(`is refused ${what}, and leaves the store uninitialised`, async () => {
      const { code, stderr } = await init(...args);
      expect(code).to.equal(1);
      expect(stderr).to.contain(reason);
      expect((await init(...INIT)).code).to.equal(0);
    });
  }

  it('accepts an API key, which then authenticates requests and is not stored in plain text', async () => {
    const key = 'c4a7e0f2-6d3b-4f7e-9a55-0c6d3f0e1a22';
    await init(...INIT, '--cluster-admin-api-key', key);
    const backend = await BackendProcess.start({ stateDir });
    try {
      const headers = { authorization: `Key ${key}` };
      const api = new ApiClient(backend.apiPort);
      const answer = await api.request({ method: 'GET', path: '/api/core/v2/namespaces', headers });
      expect(answer.status).to.equal(200);
    } finally {
      await backend.stop();
    }
  });
});

describe('mon-backend', () => {
  it('refuses a state directory that another backend uses, and names its process', async () => {
    const backend = await BackendProcess.start();
    try {
      const args = [
        'start',
        '--state-dir',
        backend.stateDir,
        '--api-listen-address',
        '127.0.0.1:0',
        '--agent-port',
        '0',
      ];
      const { code, stderr } = await runProgram(args);
      expect(code).to.equal(1);
      expect(stderr).to.contain(`store is in use by process ${backend.pid}`);
    } finally {
      await backend.stop();
    }
  });

  it('starts on the state directory of a killed backend', async () => {
    const directory = await temporaryDirectory();
    try {
      await initialiseState(directory.path);
      const killed = await BackendProcess.start({ stateDir: directory.path });
      await killed.kill();
      await killed.remove();
      const next = await BackendProcess.start({ stateDir: directory.path });
      expect(await next.stop()).to.equal(0);
    } finally {
      await directory.remove();
    }
  });

  const words: [string, string[], number, RegExp][] = [
    ['version', ['version'], 0, /^mon-backend version \d+\.\d+\.\d+/],
    ['help', ['help'], 0, /Usage: mon-backend/],
    ['nothing', [], 0, /Usage: mon-backend/],
    ['help start', ['help', 'start'], 0, /--state-dir/],
  ];
  for (const [what, args, exit, output] of words) {
    it(`answers ${what} on stdout`, async () => {
      const { code, stdout } = await runCommand(args);
      expect(code).to.equal(exit);
      expect(stdout).to.match(output);
    });
  }

  it('refuses an unknown command', async () => {
    const { code, stderr } = await runCommand(['begin']);
    expect(code).to.equal(1);
    expect(stderr).to.contain('unknown command');
  });
});

import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { ApiClient } from '../support/api-client.ts';
import { BackendProcess, initialiseState, runProgram } from '../support/backend-process.ts';
import { eventually } from '../support/eventually.ts';
import { proxyEvent } from '../support/example-events.ts';
import { perTest } from '../support/fixture.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Lets no file of the program grow past 8 kB, which stands for a full disk: the store has its meta pages below and all others above. */
const LIMITED = ['sh', '-c', 'ulimit -S -f 16 && exec "$0" "$@"'];
const HEALED_WITHIN_MS = 10_000;
const ENDED_WITHIN_MS = 10_000;

describe('F13: the program that starts on a full disk', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  let backend: BackendProcess | undefined;
  let client: ApiClient | undefined;

  afterEach(async () => {
    client?.close();
    await backend?.stop();
  });

  it('serves reads, answers writes with 503, and accepts them without a restart when there is space', async () => {
    const stateDir = `${directory.path}/state`;
    await initialiseState(stateDir);
    backend = await BackendProcess.start({ stateDir });
    const admin = await backend.login();
    const { headers } = await admin.post('/api/core/v2/apikeys', { username: 'admin' });
    const authorization = `Key ${String(headers.location).split('/').at(-1)}`;
    const before = await admin.put('/ns/default/events/p1/before', proxyEvent('p1', 'before'));
    expect(before.status).to.equal(200);
    await backend.kill();

    backend = await BackendProcess.start({ stateDir, prefix: LIMITED });
    client = new ApiClient(backend.apiPort);
    const request = (method: string, check: string, body?: unknown) =>
      client?.request({
        method,
        path: `/ns/default/events/p1/${check}`,
        headers: { authorization },
        body,
      });
    const put = async () => (await request('PUT', 'after', proxyEvent('p1', 'after')))?.status;
    expect(await put()).to.equal(503);
    expect(await request('GET', 'before')).to.have.property('status', 200);

    execFileSync('prlimit', ['--pid', String(backend.pid), '--fsize=unlimited:unlimited']);
    await eventually(put, (status) => status === 200, { withinMs: HEALED_WITHIN_MS });
    expect(await request('GET', 'after')).to.have.property('status', 200);
  });

  it('ends with the reason at its first start, which must write', async () => {
    const stateDir = `${directory.path}/state`;
    // A real initialisation leaves the table of readers, which a disk without space has no room for.
    const admin = ['--cluster-admin-username=admin', '--cluster-admin-password=P@ssw0rd!'];
    expect((await runProgram(['init', '--state-dir', stateDir, ...admin])).code).to.equal(0);
    const listeners = [
      '--api-listen-address=127.0.0.1:0',
      '--agent-host=127.0.0.1',
      '--agent-port=0',
      '--legacy-api-listen-address=',
      '--dashboard-port=0',
    ];
    const { code, stderr } = await runProgram(['start', '--state-dir', stateDir, ...listeners], {
      withinMs: ENDED_WITHIN_MS,
      prefix: LIMITED,
    });
    expect(code, stderr).to.equal(1);
    expect(stderr).to.include('the store cannot be written now');
  });
});

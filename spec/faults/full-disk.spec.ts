import { mkdirSync } from 'node:fs';
import { expect } from 'chai';
import { ADMIN, ApiClient } from '../support/api-client.ts';
import { BackendProcess, runProgram } from '../support/backend-process.ts';
import { eventually } from '../support/eventually.ts';
import { proxyEvent } from '../support/example-events.ts';
import { perTest } from '../support/fixture.ts';
import { SmallDisk } from '../support/small-disk.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Lets no file of the program grow past 8 kB, which stands for a full disk: the store has its meta pages below and all others above. */
const LIMITED = ['sh', '-c', 'ulimit -S -f 16 && exec "$0" "$@"'];
/** A new store needs less than one. */
const DISK_MIB = 8;
const BIG = 'x'.repeat(100_000);
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
    mkdirSync(stateDir);
    const disk = await SmallDisk.mount(stateDir, { mib: DISK_MIB });
    const { prefix } = disk;
    try {
      const administrator = [
        `--cluster-admin-username=${ADMIN.username}`,
        `--cluster-admin-password=${ADMIN.password}`,
      ];
      const init = await runProgram(['init', '--state-dir', stateDir, ...administrator], { prefix });
      expect(init.code, init.stderr).to.equal(0);
      backend = await BackendProcess.start({ stateDir, prefix });
      const admin = await backend.login();
      const { headers } = await admin.post('/api/core/v2/apikeys', { username: 'admin' });
      const authorization = `Key ${String(headers.location).split('/').at(-1)}`;
      const before = await admin.put('/ns/default/events/p1/before', proxyEvent('p1', 'before'));
      expect(before.status).to.equal(200);
      await backend.kill();
      await backend.remove();
      disk.fill();

      backend = await BackendProcess.start({ stateDir, prefix });
      client = new ApiClient(backend.apiPort);
      const request = async (method: string, check: string, body?: unknown) =>
        (await client?.request({ method, path: `/ns/default/events/p1/${check}`, headers: { authorization }, body }))
          ?.status;
      const put = (check: string) => request('PUT', check, proxyEvent('p1', check, { output: BIG }));
      const accepted = ['before'];
      // The store uses its own free pages first.
      const refused = async (series: string): Promise<number | undefined> => {
        for (let n = 0; ; n += 1) {
          const status = await put(`${series}-${n}`);
          if (status !== 200) return status;
          accepted.push(`${series}-${n}`);
        }
      };
      const expectAllReadable = async (): Promise<void> => {
        for (const check of accepted) expect(await request('GET', check), check).to.equal(200);
      };
      expect(await refused('full')).to.equal(503);
      await expectAllReadable();

      disk.free();
      await eventually(
        () => put('freed'),
        (status) => status === 200,
        { withinMs: HEALED_WITHIN_MS },
      );
      accepted.push('freed');
      disk.fill();
      expect(await refused('again')).to.equal(503);
      disk.free();
      await eventually(
        () => put('freed-again'),
        (status) => status === 200,
        { withinMs: HEALED_WITHIN_MS },
      );
      accepted.push('freed-again');
      await expectAllReadable();

      await backend.stop();
      backend = undefined;
      const checked = await runProgram(['check-store', '--state-dir', stateDir], { prefix });
      expect(checked.code, checked.stderr).to.equal(0);
    } finally {
      await backend?.kill();
      await disk.stop();
    }
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

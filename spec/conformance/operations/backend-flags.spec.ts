import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { BackendProcess, initialiseState } from '../../support/backend-process.ts';
import { eventually, inTime } from '../../support/eventually.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { REFERENCE_BACKEND_FLAGS } from '../../support/reference-flags.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const PROGRAM = fileURLToPath(new URL('../../../bin/mon-backend.js', import.meta.url));

describe('flags of the reference that have an effect', () => {
  describe('--labels and --annotations', () => {
    const directory = perSuite(temporaryDirectory, (made) => made.remove());

    it("are those of the backend's own entity, which keeps others", async () => {
      const stateDir = join(directory.path, 'state');
      await initialiseState(stateDir);
      const first = await BackendProcess.start({ stateDir, args: ['--labels', 'rack=R7,room=1'] });
      await first.stop();
      const second = await BackendProcess.start({ stateDir, args: ['--labels=rack=R8', '--annotations=owner=ops'] });
      try {
        const api = await second.login();
        const { json } = await api.get('/ns/mon-system/entities');
        const [own] = json as { metadata: object }[];
        expect(own?.metadata).to.deep.include({ labels: { rack: 'R8', room: '1' }, annotations: { owner: 'ops' } });
      } finally {
        await second.stop();
      }
    });
  });

  describe('--etcd-name and --api-url', () => {
    const backend = perSuite(() =>
      InProcessBackend.start({
        configure: (config) => ({ ...config, memberName: 'berlin', apiUrl: 'https://mon.example' }),
      }),
    );

    it('are the name and the address of the one member of the cluster', async () => {
      const api = await backend.login();
      expect((await api.get('/health')).json).to.have.nested.property('ClusterHealth[0].Name', 'berlin');
      const { json } = await api.get('/api/core/v2/cluster/members');
      expect(json).to.have.nested.property('members[0].name', 'berlin');
      expect(json).to.have.nested.property('members[0].clientURLs[0]', 'https://mon.example');
    });
  });

  describe('--disable-features and --platform-metrics-log-file', () => {
    const directory = perSuite(temporaryDirectory, (made) => made.remove());
    const backend = perSuite(() =>
      BackendProcess.start({
        args: [
          '--disable-features=dashboard,metrics,legacy-api,graphql',
          '--disable-platform-metrics=false',
          `--platform-metrics-log-file=${join(directory.path, 'stats.log')}`,
          '--platform-metrics-logging-interval=1s',
        ],
      }),
    );

    it('leave no listener and no metrics where they are turned off', async () => {
      const ready = backend.logs.find((line) => (line as { api?: string }).api !== undefined);
      expect(ready).not.to.have.any.keys('dashboard', 'legacyApi');
      expect(await fetch(`http://127.0.0.1:${backend.apiPort}/metrics`)).to.have.property('status', 404);
    });

    it('append the metrics of the process to a file of their own', async () => {
      const read = () => readFile(join(directory.path, 'stats.log'), 'utf8').catch(() => '');
      const text = await eventually(read, (found) => found.includes('\n'), { withinMs: 10_000 });
      expect(text).to.match(/^mon_entities,backend=\S+ gauge=\d+ \d{19}$/m);
      expect(text).to.match(/^process_cpu_seconds_total,backend=\S+ counter=[\d.]+ \d{19}$/m);
    });
  });
});

describe('flags of the store of the reference', () => {
  const backend = perSuite(() =>
    BackendProcess.start({
      args: [
        ...Object.entries(REFERENCE_BACKEND_FLAGS).map(([name, value]) => `--${name}=${value}`),
        '--etcd-max-request-bytes=2000',
        '--etcd-quota-backend-bytes=4294967296',
      ],
    }),
  );

  it('start the program with one warning, which names those without effect and no other', () => {
    const lines = backend.logs.filter((line) => (line as { msg?: string }).msg === 'settings without effect');
    expect(lines).to.have.length(1);
    const { component, level, msg, time, ...names } = lines[0] as Record<string, unknown>;
    expect([component, level, msg, typeof time]).to.include('warning');
    expect(Object.keys(names).toSorted()).to.deep.equal(Object.keys(REFERENCE_BACKEND_FLAGS).toSorted());
  });

  it('limit the size of a resource and of the store', async () => {
    const api = await backend.login();
    const handler = (bytes: number) => ({
      metadata: { name: 'h', namespace: 'default' },
      type: 'pipe',
      command: 'x'.repeat(bytes),
    });
    const url = '/api/core/v2/namespaces/default/handlers/h';
    const refused = await api.put(url, handler(2_000));
    expect(refused).to.have.property('status', 413);
    expect(refused.text).to.contain('--store-max-value-bytes');
    expect((await api.get(url)).status).to.equal(404);
    expect((await api.put(url, handler(1_000))).status).to.be.oneOf([200, 201]);
    const metrics = await (await fetch(`http://127.0.0.1:${backend.apiPort}/metrics`)).text();
    expect(metrics).to.match(/^mon_store_quota_bytes 4294967296$/m);
  });
});

describe('--print-config', () => {
  it('of the program prints the settings on standard output, and ends with 0', async () => {
    const child = spawn(process.execPath, [PROGRAM, 'start', '--print-config', '-d', '/nowhere'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
    await inTime(once(child, 'close'), 'the end of the program', 15_000);
    expect(child.exitCode).to.equal(0);
    expect(output.stdout).to.contain('state-dir: "/nowhere" # flag --state-dir\n');
    expect(output.stderr).to.equal('');
  });
});

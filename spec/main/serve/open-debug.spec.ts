import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parseBackendConfig } from '../../../src/config/backend.ts';
import { sources } from '../../config/sources.ts';
import { inTime } from '../../support/eventually.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { RunningClock } from '../../support/running-clock.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const PROGRAM = fileURLToPath(new URL('profiled-process.ts', import.meta.url));
const CPU = '/debug/cpu-profile?seconds=0.05';
const HEAP = '/debug/heap-profile?seconds=0.05';
const FOR_LONG = '/debug/cpu-profile?seconds=300';

interface Options {
  method?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

function askAt(port: number, path: string, { method = 'GET', headers = {}, signal }: Options = {}) {
  const answered = new Promise<{ status: number; text: string }>((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, method, headers, ...(signal && { signal }) };
    httpRequest(options, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, text });
      });
    })
      .on('error', reject)
      .end();
  });
  return inTime(answered, 'an answer', 30_000);
}

describe('--debug', function () {
  this.timeout(60_000);
  const backend = perSuite(() =>
    InProcessBackend.start({
      clock: new RunningClock(),
      configure: (config) => ({ ...config, debug: { host: '127.0.0.1', port: 0 } }),
    }),
  );

  const portOf = (): number => {
    const line = backend.log.lines.find(({ msg }) => msg === 'profiles are served');
    return Number(String(line?.fields['address']).split(':').at(-1));
  };

  const ask = (path: string, options: Options = {}) => askAt(portOf(), path, options);

  it('listens on loopback at the port of the reference, with a warning, and is off by default', () => {
    const parsed = (argv: string[]) => {
      const result = parseBackendConfig(sources({ argv }));
      if ('help' in result) throw new Error('help instead of a configuration');
      return result;
    };
    const on = parsed(['--debug']);
    expect(on.config.debug).to.deep.equal({ host: '127.0.0.1', port: 6060 });
    expect(on.warnings.map(({ fields }) => fields)).to.deep.equal([{ flag: 'debug' }]);
    expect(parsed([]).config.debug).to.equal(undefined);
  });

  it('answers with a CPU profile that has the functions of the process', async () => {
    const { status, text } = await ask(CPU);
    expect(status).to.equal(200);
    expect(JSON.parse(text)).to.include.keys('nodes', 'samples', 'startTime', 'endTime');
  });

  it('answers with a profile of the heap that has no values', async () => {
    const { status, text } = await ask(HEAP);
    expect(status).to.equal(200);
    expect(JSON.parse(text)).to.have.nested.property('head.callFrame');
  });

  it('records one profile at a time, and stops when the client disconnects', async () => {
    const leaving = new AbortController();
    const first = ask(FOR_LONG, { signal: leaving.signal }).catch((error: unknown) => error);
    let second = await ask(CPU);
    while (second.status === 200) second = await ask(CPU);
    expect(second.status).to.equal(409);
    leaving.abort();
    expect(await first).to.have.property('name', 'AbortError');
    while (second.status === 409) second = await ask(CPU);
    expect(second.status).to.equal(200);
  });

  for (const [what, headers] of [
    ['a page of another origin', { origin: 'https://evil.example' }],
    ['a page whose name was bound to this address', { host: 'evil.example:6060' }],
  ] as const) {
    it(`refuses requests of ${what}`, async () => {
      expect(await ask(CPU, { headers })).to.have.property('status', 403);
      expect(await ask('/debug/heap-snapshot', { method: 'POST', headers })).to.have.property('status', 403);
    });
  }

  it('names its routes in a 404, and refuses impossible durations', async () => {
    expect(await ask('/'))
      .to.deep.include({ status: 404 })
      .and.to.have.property('text')
      .that.includes(CPU.split('?')[0]);
    for (const seconds of ['0', '-1', '301', 'x']) {
      expect(await ask(`/debug/cpu-profile?seconds=${seconds}`), seconds).to.have.property('status', 400);
    }
  });
});

describe('POST /debug/heap-snapshot', function () {
  this.timeout(60_000);
  const directory = perSuite(temporaryDirectory, (made) => made.remove());
  const program = perSuite(
    () =>
      Promise.resolve(
        spawn(process.execPath, ['--import=tsx', PROGRAM, directory.path], { stdio: ['ignore', 'pipe', 'inherit'] }),
      ),
    (child) => child.kill(),
  );

  it('writes the heap to the state directory, for its owner only, in place of an earlier one', async () => {
    const [port] = (await inTime(once(program.stdout, 'data'), 'the port', 30_000)) as [Buffer];
    const file = join(directory.path, 'heap.heapsnapshot');
    for (let round = 0; round < 2; round += 1) {
      const answer = await askAt(Number(port.toString()), '/debug/heap-snapshot', { method: 'POST' });
      expect(answer).to.deep.equal({ status: 200, text: `${file}\n` });
    }
    expect(readdirSync(directory.path)).to.deep.equal(['heap.heapsnapshot']);
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(readFileSync(file, 'latin1').slice(0, 20)).to.match(/^\{"snapshot":/);
  });
});

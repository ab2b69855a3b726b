import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { HandshakeRefused } from '../../support/agent-client.ts';
import { ADMIN } from '../../support/api-client.ts';
import { BackendProcess } from '../../support/backend-process.ts';
import { examplesIn, printedValues } from '../../support/document-examples.ts';
import { eventually } from '../../support/eventually.ts';
import { keepalive } from '../../support/example-events.ts';
import { difference } from '../../support/golden-match.ts';
import { at } from '../../support/json-path.ts';
import { RequestRecorder } from '../../support/request-recorder.ts';
import { type BlockResult, runBlocks } from '../../support/shell-blocks.ts';

const DOCUMENT = readFileSync(fileURLToPath(new URL('../../../docs/api.md', import.meta.url)), 'utf8');
const AGENT = 'web-1';

/** An operation, for example `GET /checks/{name}`, and the pattern of its paths in requests. */
interface Operation {
  name: string;
  method: string;
  path: RegExp;
}

function operationsOf(document: unknown): Operation[] {
  return Object.entries(at(document, 'paths') as object).flatMap(([path, methods]) =>
    Object.keys(methods as object).map((method) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    })),
  );
}

describe('the examples in docs/api.md', () => {
  const examples = examplesIn(DOCUMENT);
  let backend: BackendProcess;
  let recorder: RequestRecorder;
  let results: BlockResult[] = [];
  let operations: Operation[];

  before(async function () {
    this.timeout(90_000);
    backend = await BackendProcess.start();
    const api = await backend.login();
    const agent = await backend.connect({ name: AGENT, subscriptions: ['linux'] });
    agent.send('keepalive', keepalive(AGENT, { entity: { subscriptions: ['linux'] } }));
    await eventually(() => api.event(AGENT, 'keepalive'));
    const guess = backend.connect({ name: 'web-2', credentials: { username: 'agent', password: 'a guess' } });
    await guess.catch((error: unknown) => {
      expect(error).to.be.instanceOf(HandshakeRefused);
    });
    operations = operationsOf((await api.get('/openapi.json')).json);
    recorder = await RequestRecorder.before(backend.apiPort);
    const environment = { API: recorder.address, PASSWORD: ADMIN.password };
    results = await runBlocks(
      examples.map(({ commands }) => commands),
      environment,
    );
  });

  after(async () => {
    await recorder.close();
    await backend.stop();
  });

  for (const [index, { heading, line, prints }] of examples.entries()) {
    it(`print the documented output: ${heading}, line ${line}`, () => {
      const { code, stdout, stderr } = results[index] ?? { code: NaN, stdout: '', stderr: 'not run' };
      expect([code, stderr]).to.deep.equal([0, '']);
      expect(difference(printedValues(prints), printedValues(stdout)), stdout).to.equal(undefined);
    });
  }

  it('cover every operation of the API', () => {
    expect(operations).to.have.length.above(100);
    const missing = operations.filter(
      ({ method, path }) => !recorder.requests.some((request) => request.method === method && path.test(request.path)),
    );
    expect(missing.map(({ name }) => name)).to.deep.equal([]);
  });
});

import { expect } from 'chai';
import { type ApiAnswer, ApiClient } from '../../support/api-client.ts';
import { InProcessBackend, type InProcessOptions } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';

const CORE = '/api/core/v2';
const NOT_YET = 'API unavailable during startup.\nSee api-serve-wait-time settings.\n\n';
/** How long an answer about the store is reused. */
const PROBE_VALID_MS = 1_000;

describe('case 51: the state of the backend', () => {
  let backend: InProcessBackend;
  let anonymous: ApiClient;

  async function start(options: InProcessOptions = {}): Promise<void> {
    backend = await InProcessBackend.start(options);
    anonymous = new ApiClient(backend.apiPort);
  }

  afterEach(async () => {
    anonymous.close();
    await backend.stop();
  });

  const get = (path: string): Promise<ApiAnswer> => anonymous.request({ method: 'GET', path });

  it('is reported by /health and /ready', async () => {
    await start();
    const { status, json } = await get('/health');
    expect(status).to.equal(200);
    expect(Object.keys(json as object)).to.deep.equal(['Alarms', 'ClusterHealth', 'Header']);
    expect(at(json, 'ClusterHealth', 0, 'Healthy')).to.equal(true);
    const wrong = await get('/health?timeout=x');
    expect([wrong.status, wrong.text]).to.deep.equal([400, 'strconv.Atoi: parsing "x": invalid syntax\n']);
    expect((await get('/ready')).text).to.equal('ready\n');
  });

  it('is not healthy while the store cannot be written, which is reported with status 200', async () => {
    await start();
    const healthy = async (): Promise<unknown> => {
      const { status, json } = await get('/health');
      return [status, at(json, 'ClusterHealth', 0, 'Healthy')];
    };
    backend.store.failUntilHealed();
    expect(await healthy()).to.deep.equal([200, false]);
    backend.store.heal();
    await backend.clock.advance(5 * PROBE_VALID_MS);
    expect(await healthy()).to.deep.equal([200, true]);
  });

  describe('within --api-serve-wait-time', () => {
    const WAIT_MS = 10_000;

    beforeEach(() => start({ configure: (config) => ({ ...config, api: { ...config.api, serveWaitMs: WAIT_MS } }) }));

    const refused: [string, string][] = [
      ['GET', '/ready'],
      ['GET', '/auth'],
      ['POST', '/auth/token'],
      ['GET', `${CORE}/namespaces`],
      ['GET', `${CORE}/tessen`],
      ['POST', '/graphql'],
      ['GET', '/api/mon/v1/sessions'],
    ];
    for (const [method, path] of refused) {
      it(`makes ${method} ${path} wait, for any client, until the time is over`, async () => {
        const { status, headers, text } = await anonymous.request({ method, path });
        expect([status, headers['retry-after'], text]).to.deep.equal([503, '10', NOT_YET]);
        expect(headers['content-type']).to.equal('text/plain; charset=utf-8');
        await backend.clock.advance(WAIT_MS - 1);
        expect((await anonymous.request({ method, path })).status).to.equal(503);
        await backend.clock.advance(1);
        expect((await anonymous.request({ method, path })).status).to.not.equal(503);
      });
    }

    it('is reported, also at the port for agents and for unknown paths and methods', async () => {
      for (const path of ['/health', '/version', '/metrics']) expect((await get(path)).status, path).to.equal(200);
      expect((await anonymous.post(`${CORE}/tessen/metrics`, [])).status).to.equal(200);
      expect((await get('/nowhere')).status).to.equal(404);
      expect((await anonymous.post('/ready', {})).status).to.equal(405);
      expect((await anonymous.request({ method: 'HEAD', path: '/ready' })).status).to.equal(405);
      const ofAgents = new ApiClient(backend.agentPort);
      const ready = await ofAgents.request({ method: 'GET', path: '/ready' });
      ofAgents.close();
      expect([ready.status, ready.text]).to.deep.equal([200, 'ready\n']);
    });
  });
});

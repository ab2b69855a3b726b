import { expect } from 'chai';
import type { BackendConfig } from '../../../src/config/backend.ts';
import type { ApiClient } from '../../support/api-client.ts';
import { proxyEvent } from '../../support/example-events.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';

const SILENCED = '/ns/default/silenced';
const HOUR_S = 3_600;
const DAY_S = 86_400;

const silence = (check: string, more: object = {}): object => ({ metadata: { namespace: 'default' }, check, ...more });

describe('silences of an installation with limits', () => {
  let backend: InProcessBackend;
  let api: ApiClient;

  afterEach(() => backend.stop());

  async function start(limits: Pick<BackendConfig, 'defaultSilenceMs' | 'longestSilenceMs'>): Promise<void> {
    backend = await InProcessBackend.start({ configure: (config) => ({ ...config, ...limits }) });
    api = await backend.login();
  }

  it('without an end get the default duration, and the next event after it is not silenced', async () => {
    await start({ defaultSilenceMs: HOUR_S * 1_000 });
    for (const [check, more] of Object.entries({ none: {}, zero: { expire: 0 }, never: { expire: -1 } })) {
      expect((await api.post(SILENCED, silence(check, more))).status).to.equal(201);
      const { json } = await api.get(`${SILENCED}/*:${check}`);
      expect([at(json, 'expire_at'), at(json, 'expire')]).to.deep.equal([backend.nowS + HOUR_S, HOUR_S]);
    }
    const isSilenced = async (): Promise<unknown> => {
      await api.put('/ns/default/events/e/none', proxyEvent('e', 'none', { status: 2 }));
      return at(await api.event('e', 'none'), 'check', 'is_silenced');
    };
    expect(await isSilenced()).to.equal(true);
    backend.clock.jump((HOUR_S + 1) * 1_000);
    api = await backend.login();
    expect(await isSilenced()).to.equal(false);
    expect((await api.get(`${SILENCED}/*:none`)).status).to.equal(404);
  });

  it('are refused by POST and PUT without a change when they exceed the greatest duration', async () => {
    await start({ longestSilenceMs: DAY_S * 1_000 });
    const tooLong = [{ expire: DAY_S + 1 }, { expire_at: backend.nowS + DAY_S + 2 }];
    for (const more of tooLong) {
      const put = { ...silence('c', more), metadata: { name: '*:c', namespace: 'default' } };
      for (const { status, json } of [
        await api.post(SILENCED, silence('c', more)),
        await api.put(`${SILENCED}/*:c`, put),
      ]) {
        const body = { message: `a silence must end within ${DAY_S} seconds of its start`, code: 1 };
        expect([status, json]).to.deep.equal([400, body]);
      }
    }
    expect((await api.get(SILENCED)).json).to.deep.equal([]);
    expect(await api.ledger({ actor: 'silence' })).to.deep.equal([]);
    expect((await api.post(SILENCED, silence('c', { expire: DAY_S }))).status).to.equal(201);
    expect((await api.post(SILENCED, silence('endless'))).status).to.equal(201);
    expect(at((await api.get(`${SILENCED}/*:endless`)).json, 'expire')).to.equal(DAY_S);
  });

  it('are stored as they are sent if nothing limits them', async () => {
    await start({});
    await api.post(SILENCED, silence('endless'));
    const { json } = await api.get(`${SILENCED}/*:endless`);
    expect([at(json, 'expire'), at(json, 'expire_at')]).to.deep.equal([-1, 0]);
  });
});

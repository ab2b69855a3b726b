import { expect } from 'chai';
import { ApiUnderTest } from '../api-under-test.ts';
import { perSuite } from '../../support/fixture.ts';

const ALL = '/api/mon/v1/sessions';
const IN_DEFAULT = '/api/mon/v1/namespaces/default/sessions';
const REFUSALS = '/api/mon/v1/handshake-refusals';

describe('the list of agent connections', () => {
  const api = perSuite(() => ApiUnderTest.start());

  const statusAs = async (token: string, path: string): Promise<number> =>
    (await api.send({ path, headers: { authorization: `Bearer ${token}` } })).status;

  for (const [path, namespace] of [
    [ALL, undefined],
    [IN_DEFAULT, 'default'],
  ] as const) {
    it(`is an array at ${path}`, async () => {
      api.sessions = { items: [{ agent: 'a' }], lastKey: undefined };
      const { status, body, headers } = await api.get(path);
      expect([status, body]).to.deep.equal([200, [{ agent: 'a' }]]);
      expect(headers).to.not.have.property('sensu-continue');
      expect(api.sessionsAsked).to.deep.equal({ namespace, page: { limit: undefined, from: undefined } });
    });

    it(`has pages at ${path}`, async () => {
      api.sessions = { items: [{ agent: 'a' }], lastKey: 'default/a/1' };
      const token = (await api.get(`${path}?limit=1`)).headers['sensu-continue'];
      expect(api.sessionsAsked).to.deep.equal({ namespace, page: { limit: 1, from: undefined } });
      await api.get(`${path}?limit=1&continue=${String(token)}`);
      expect(api.sessionsAsked?.page).to.deep.equal({ limit: 1, from: 'default/a/1\0' });
    });
  }

  it('is visible only to users who may list sessions', async () => {
    const may = await api.userWith('may-sessions', [{ verbs: ['list'], resources: ['sessions'] }]);
    const agent = await api.userWith('may-events', [{ verbs: ['*'], resources: ['events'] }]);
    for (const path of [ALL, IN_DEFAULT]) {
      expect([await statusAs(may, path), await statusAs(agent, path)]).to.deep.equal([200, 403]);
    }
    expect(await statusAs(may, REFUSALS)).to.equal(403);
  });

  it('has a separate right for refused handshakes, handshake-refusals', async () => {
    api.handshakeRefusals = [{ agent: 'newest' }, { agent: 'older' }];
    const may = await api.userWith('may-refusals', [{ verbs: ['list'], resources: ['handshake-refusals'] }]);
    expect([await statusAs(may, REFUSALS), await statusAs(may, ALL)]).to.deep.equal([200, 403]);
    expect((await api.get(REFUSALS)).body).to.deep.equal(api.handshakeRefusals);
  });

  it('needs credentials', async () => {
    for (const path of [ALL, IN_DEFAULT, REFUSALS]) {
      expect((await api.send({ path, headers: { authorization: '' } })).status).to.equal(401);
    }
  });
});

import { hashSync } from '@node-rs/bcrypt';
import { expect } from 'chai';
import type { BackendConfig } from '../../../src/config/backend.ts';
import type { EarlierAnswer } from '../../support/earlier-client.ts';
import { EarlierWorld } from '../../support/earlier-world.ts';
import { perTest } from '../../support/fixture.ts';

const USERS = '/api/core/v2/users';
const PASSWORD = 'ann-pass-1';
const PAIR = { username: 'ops', password: 'pass:word' };

const configured = (config: BackendConfig): BackendConfig => ({
  ...config,
  ...(config.earlierApi && { earlierApi: { ...config.earlierApi, pair: PAIR } }),
});

/** Source: spec/05 2.3. */
describe('a login by cookie on the port of the dashboard', () => {
  const world = perTest(() => EarlierWorld.start({ configure: configured }));

  beforeEach(async () => {
    const ann = { username: 'ann', password_hash: hashSync(PASSWORD, { cost: 4 }), groups: ['cluster-admins'] };
    await world.admin.post(USERS, ann);
    await world.result('berlin', 'web-07', 'disk', { status: 2 });
  });

  const login = (user: string, pass: string): Promise<EarlierAnswer> => world.dashboard.post('/login', { user, pass });
  /** The headers that a page sends after a login. */
  const headersOf = ({ headers }: EarlierAnswer): { Cookie: string; 'X-XSRF-TOKEN': string } => {
    const pairs = (headers['set-cookie'] ?? []).map((cookie) => cookie.split(';', 1)[0] ?? '');
    const xsrf = pairs.find((pair) => pair.startsWith('XSRF-TOKEN='))?.slice('XSRF-TOKEN='.length) ?? '';
    return { Cookie: pairs.join('; '), 'X-XSRF-TOKEN': xsrf };
  };
  const ask = (method: string, path: string, headers: Record<string, string>): Promise<EarlierAnswer> =>
    world.dashboard.send({ method, path, headers });

  for (const [whose, user, pass] of [
    ['a user', 'ann', PASSWORD],
    ['the configured pair', PAIR.username, PAIR.password],
  ] as const) {
    it(`of ${whose} may read and change`, async () => {
      const answer = await login(user, pass);
      expect(answer).to.deep.include({ status: 200, json: { username: user } });
      const headers = headersOf(answer);
      expect((await ask('GET', '/user', headers)).json).to.deep.equal({ username: user });
      expect((await ask('GET', '/events', headers)).json).to.have.lengthOf(1);
      expect((await ask('DELETE', '/events/web-07/disk', headers)).status).to.equal(202);
      expect((await ask('GET', '/events', headers)).json).to.deep.equal([]);
    });
  }

  it('has a cookie that scripts cannot read, and one that they repeat in a header', async () => {
    const [token = '', xsrf = ''] = (await login('ann', PASSWORD)).headers['set-cookie'] ?? [];
    expect(token).to.match(/^AuthenticationToken=[\w-]{43}; HttpOnly; Path=\/; Max-Age=43200; SameSite=Strict$/);
    expect(xsrf).to.match(/^XSRF-TOKEN=[\w-]{43}; Path=\/; Max-Age=43200; SameSite=Strict$/);
  });

  it('is refused without the header, for reads too', async () => {
    const { Cookie, ...others } = headersOf(await login('ann', PASSWORD));
    const another = headersOf(await login('ann', PASSWORD));
    for (const headers of [{ Cookie }, { Cookie, 'X-XSRF-TOKEN': another['X-XSRF-TOKEN'] }, others]) {
      for (const method of ['GET', 'HEAD']) expect((await ask(method, '/events', headers)).status).to.equal(401);
      expect((await ask('DELETE', '/events/web-07/disk', headers)).status).to.equal(401);
    }
    expect((await ask('GET', '/health', { Cookie })).status).to.equal(200);
  });

  it('does not count on port 4567', async () => {
    const headers = headersOf(await login('ann', PASSWORD));
    expect((await world.core.get('/events', headers)).status).to.equal(401);
    expect((await world.core.post('/login', { user: 'ann', pass: PASSWORD })).status).to.equal(401);
  });

  it('has the rights of its user at the time of the request', async () => {
    await world.admin.post(USERS, {
      username: 'bob',
      password_hash: hashSync(PASSWORD, { cost: 4 }),
      groups: ['none'],
    });
    const headers = headersOf(await login('bob', PASSWORD));
    expect((await ask('GET', '/events', headers)).json).to.deep.equal([]);
    expect((await ask('DELETE', '/events/web-07/disk', headers)).status).to.equal(404);
  });

  it('ends with a logout, and with the user or the password', async () => {
    const works = async (headers: Record<string, string>) => (await ask('GET', '/events', headers)).status === 200;
    const first = headersOf(await login('ann', PASSWORD));
    const out = await ask('GET', '/logout', { Cookie: first.Cookie });
    expect(out.status).to.equal(302);
    expect(out.headers.location).to.equal('/#/login');
    expect(out.headers['set-cookie']?.[0]).to.match(/^AuthenticationToken=; .*Max-Age=0/);
    expect(await works(first)).to.equal(false);

    const second = headersOf(await login('ann', PASSWORD));
    const changed = await world.admin.put(`${USERS}/ann/reset_password`, {
      username: 'ann',
      password_hash: hashSync('another-1', { cost: 4 }),
    });
    expect(changed.status).to.be.below(300);
    expect(await works(second)).to.equal(false);

    const third = headersOf(await login('ann', 'another-1'));
    expect(await works(third)).to.equal(true);
    await world.admin.delete(`${USERS}/ann`);
    expect(await works(third)).to.equal(false);
  });

  it('needs a right password, and a body that can be read', async () => {
    for (const [user, pass] of [
      ['ann', 'wrong'],
      ['nobody', PASSWORD],
      [PAIR.username, 'pass'],
    ] as const) {
      const { status, headers, text } = await login(user, pass);
      expect({ status, text }).to.deep.equal({ status: 401, text: '' });
      expect(headers).to.not.have.any.keys('set-cookie', 'www-authenticate');
    }
    for (const text of ['{', '[]', '{"user":"ann"}', '{"user":1,"pass":2}']) {
      expect((await world.dashboard.send({ method: 'POST', path: '/login', text })).status, text).to.equal(400);
    }
  });

  it('delays the guessing of passwords', async () => {
    const statuses: number[] = [];
    for (let guess = 0; guess < 40; guess += 1) statuses.push((await login('ann', `guess-${guess}`)).status);
    expect([statuses[0], statuses.at(-1)]).to.deep.equal([401, 429]);
  });

  it('is what /config/auth asks for where requests need credentials', async () => {
    expect((await world.dashboard.get('/config/auth')).json).to.deep.equal({ driver: 'simple' });
    const headers = headersOf(await login('ann', PASSWORD));
    expect((await ask('GET', '/config/auth', headers)).json).to.deep.equal({ driver: 'simple' });
  });
});

describe('the port of the dashboard, where requests of this machine need no credentials', () => {
  const world = perTest(() => EarlierWorld.start());

  it('asks for no login', async () => {
    expect((await world.dashboard.get('/config/auth')).json).to.deep.equal({ driver: '' });
    expect((await world.dashboard.get('/user')).status).to.equal(401);
  });

  it('shows its counts to clients that read JSON, not to Prometheus', async () => {
    for (const [accept, status] of [
      ['application/json', 200],
      ['application/json, text/plain, */*', 200],
      ['*/*', 200],
      ['application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1', 404],
      ['text/plain', 404],
    ] as const) {
      expect((await world.dashboard.get('/metrics', { Accept: accept })).status, accept).to.equal(status);
    }
  });

  it('shows the whole health for every path below it that is no part', async () => {
    const { json } = await world.dashboard.get('/health');
    for (const path of ['/health/x', '/health/sensu/berlin', '/health/constructor', '/health/__proto__']) {
      expect((await world.dashboard.get(path)).json, path).to.deep.equal(json);
    }
    expect((await world.dashboard.get('/health/uchiwa')).json).to.equal('ok');
  });
});

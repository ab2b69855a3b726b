import { hashSync, verify } from '@node-rs/bcrypt';
import { expect } from 'chai';
import { decodeJwt } from 'jose';
import { basicHeader } from '../../../src/wire/handshake.ts';
import { type ApiAnswer, ApiClient } from '../../support/api-client.ts';
import { perTest } from '../../support/fixture.ts';
import { forgedToken, type Forgery } from '../../support/forged-token.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';
import { rawRequest } from '../../support/raw-handshake.ts';

const USERS = '/api/core/v2/users';
const PASSWORD = 'first-pass';
const COST = 4;
const PASSWORD_HASH = hashSync(PASSWORD, { cost: COST });
const SECOND_HASH = hashSync('second-pass', { cost: COST });

/** Compares cheap hashes only: the usual ones, of which none is the hash of a guess, would take 60 ms each. */
const verifyHash = async (password: string, hash: string): Promise<boolean> =>
  hash.startsWith(`$2b$0${COST}$`) && (await verify(password, hash));

interface Tokens {
  access: string;
  refresh: string;
}

describe('attacks on the login', () => {
  const backend = perTest(() => InProcessBackend.start({ verifyHash }));
  let admin: ApiClient;
  /** A client without credentials of its own: it sends only the given ones. */
  let client: ApiClient;

  beforeEach(async () => {
    await connect();
    const user = { username: 'ann', password_hash: PASSWORD_HASH, groups: ['cluster-admins'] };
    expect((await admin.post(USERS, user)).status).to.equal(201);
  });

  afterEach(() => client.close());

  async function connect(): Promise<void> {
    admin = await backend.login();
    client = new ApiClient(backend.apiPort);
  }

  const get = (path: string, authorization: string, headers: Record<string, string> = {}): Promise<ApiAnswer> =>
    client.request({ method: 'GET', path, headers: { authorization, ...headers } });

  const tryLogin = (username: string, password: string, headers?: Record<string, string>): Promise<ApiAnswer> =>
    get('/auth', basicHeader({ username, password }), headers);

  const tokensOf = ({ status, json }: ApiAnswer): Tokens => {
    expect(status).to.equal(200);
    return { access: String(at(json, 'access_token')), refresh: String(at(json, 'refresh_token')) };
  };
  const login = async (): Promise<Tokens> => tokensOf(await tryLogin('ann', PASSWORD));

  const post = (path: string, { access, refresh }: Tokens): Promise<ApiAnswer> =>
    client.request({
      method: 'POST',
      path,
      headers: { authorization: `Bearer ${access}` },
      body: { refresh_token: refresh },
    });

  /** The answers of the API and of a refresh to the tokens; a successful refresh uses the refresh token up. */
  async function answersTo(tokens: Tokens): Promise<number[]> {
    const seen = await get(`${USERS}/ann`, `Bearer ${tokens.access}`);
    return [seen.status, (await post('/auth/token', tokens)).status];
  }

  describe('A9 by a token', () => {
    const forgeries: [string, Forgery][] = [
      ['unsigned', { header: { alg: 'none' }, sign: 'none' }],
      ['unsigned, with another spelling of none', { header: { alg: 'nOnE' }, sign: 'none' }],
      ['unsigned, with the signature kept', { header: { alg: 'none' } }],
      ['of another algorithm of the same family', { header: { alg: 'HS512' }, sign: 'hs512:' }],
      ['of an asymmetric algorithm', { header: { alg: 'RS256' } }],
      ['with the id of a key that is an empty file', { header: { kid: '../../dev/null' }, sign: 'hs256:' }],
      ['with the key that it is signed by', { header: { jwk: { kty: 'oct', k: '' } }, sign: 'hs256:' }],
      ['with a critical extension', { header: { crit: ['b64'], b64: false } }],
      ['signed by a guessed secret', { claims: {}, sign: 'hs256:secret' }],
      ['that expires later', { claims: { exp: 4_102_444_800 } }],
      ['of another issuer', { claims: { iss: 'http://elsewhere:8080' } }],
      ['of another user', { claims: { sub: 'admin' } }],
      ['with other groups', { claims: { groups: ['cluster-admins'] } }],
    ];
    for (const [what, forgery] of forgeries) {
      it(`${what} are answered with 401, and the valid token stays valid`, async () => {
        const tokens = await login();
        const forged = forgedToken(tokens.access, forgery);
        expect(await answersTo({ ...tokens, access: forged })).to.deep.equal([401, 401]);
        expect((await post('/auth/logout', { ...tokens, access: forged })).status).to.equal(401);
        expect(await answersTo(tokens)).to.deep.equal([200, 200]);
      });
    }

    it('that has expired are answered with 401 by the API, while a refresh accepts it', async () => {
      const tokens = await login();
      backend.clock.jump(301_000);
      expect(await answersTo(tokens)).to.deep.equal([401, 200]);
    });

    const endings: [string, (tokens: Tokens) => Promise<ApiAnswer>, number][] = [
      ['its logout', (tokens) => post('/auth/logout', tokens), 400],
      ['a password reset', () => admin.put(`${USERS}/ann/reset_password`, { password_hash: SECOND_HASH }), 400],
      ['a new password by PUT', () => admin.put(`${USERS}/ann`, { username: 'ann', password: 'other-pass' }), 400],
      ['DELETE of its user', () => admin.delete(`${USERS}/ann`), 401],
      ['PUT that disables its user', () => admin.put(`${USERS}/ann`, disabledAnn()), 401],
    ];
    const disabledAnn = () => ({ username: 'ann', password: PASSWORD, disabled: true });
    for (const [what, end, onRefresh] of endings) {
      it(`are answered with 401 immediately after ${what}, and after a restart`, async () => {
        const tokens = await login();
        expect((await get(`${USERS}/ann`, `Bearer ${tokens.access}`)).status).to.equal(200);
        expect((await end(tokens)).status).to.be.oneOf([200, 201, 204]);
        expect(await answersTo(tokens)).to.deep.equal([401, onRefresh]);
        client.close();
        await backend.restart();
        await connect();
        expect(await answersTo(tokens)).to.deep.equal([401, onRefresh]);
      });
    }

    it('are answered with 401 after its user is reinstated, too', async () => {
      const tokens = await login();
      await admin.delete(`${USERS}/ann`);
      expect((await admin.put(`${USERS}/ann/reinstate`, undefined)).status).to.equal(201);
      expect(await answersTo(tokens)).to.deep.equal([401, 400]);
      expect(await answersTo(await login())).to.deep.equal([200, 200]);
    });

    it('are answered with 401 after the user changed the password, except in the session that changed it', async () => {
      const [own, other] = [await login(), await login()];
      const changed = await client.request({
        method: 'PUT',
        path: `${USERS}/ann/password`,
        headers: { authorization: `Bearer ${own.access}` },
        body: { password: PASSWORD, password_hash: SECOND_HASH },
      });
      expect(changed.status).to.equal(201);
      expect(await answersTo(other)).to.deep.equal([401, 400]);
      expect(await answersTo(own)).to.deep.equal([200, 200]);
    });

    it('leave the token of an open session valid after a restart', async () => {
      const tokens = await login();
      client.close();
      await backend.restart();
      await connect();
      expect(await answersTo(tokens)).to.deep.equal([200, 200]);
    });

    it('are refused when a hundred later logins have replaced its session', async () => {
      const tokens = await login();
      for (let n = 1; n < 100; n += 1) await login();
      expect((await get(`${USERS}/ann`, `Bearer ${tokens.access}`)).status).to.equal(200);
      await login();
      expect(await answersTo(tokens)).to.deep.equal([401, 400]);
    });

    it('that many requests refresh at once yield the same new token for all of them', async () => {
      const tokens = await login();
      const answers = await Promise.all(Array.from({ length: 8 }, () => post('/auth/token', tokens)));
      const refreshed = answers.map(tokensOf);
      expect(new Set(refreshed.map(({ refresh }) => refresh)).size).to.equal(1);
      for (const { access } of refreshed) {
        expect((await get(`${USERS}/ann`, `Bearer ${access}`)).status).to.equal(200);
      }
    });

    it('yield no token that cannot be stored', async () => {
      const tokens = await login();
      backend.store.failUntilHealed();
      expect((await tryLogin('ann', PASSWORD)).status).to.equal(503);
      expect((await post('/auth/token', tokens)).status).to.equal(503);
      expect((await post('/auth/logout', tokens)).status).to.equal(503);
      expect((await get(`${USERS}/ann`, `Bearer ${tokens.access}`)).status).to.equal(200);
    });
  });

  describe('A16 by guessing passwords', () => {
    const statuses = async (count: number, guess: (n: number) => Promise<ApiAnswer>): Promise<Set<number>[]> => {
      const answers: number[] = [];
      for (let n = 0; n < count; n += 1) answers.push((await guess(n)).status);
      return [new Set(answers.slice(0, 10)), new Set(answers.slice(10))];
    };

    for (const username of ['ann', 'nobody']) {
      it(`of ${username} are answered 401 ten times and then 429 with Retry-After, whether the user exists or not`, async () => {
        const guess = (n: number) => tryLogin(username, `guess ${n}`);
        expect(await statuses(14, guess)).to.deep.equal([new Set([401]), new Set([429])]);
        const { status, headers, text } = await tryLogin(username, 'guess');
        expect([status, headers['retry-after'], text]).to.deep.equal([
          429,
          '30',
          'too many failed logins: try again in 30 s\n',
        ]);
        expect((await get('/auth/test', basicHeader({ username, password: 'guess' }))).status).to.equal(429);
      });
    }

    it('delay the right password as well, but lock no user out permanently', async () => {
      await statuses(14, (n) => tryLogin('ann', `guess ${n}`));
      expect((await tryLogin('ann', PASSWORD)).status).to.equal(429);
      await backend.clock.advance(30_000);
      expect((await tryLogin('ann', PASSWORD)).status).to.equal(200);
      expect(await statuses(14, (n) => tryLogin('ann', `again ${n}`))).to.deep.equal([new Set([401]), new Set([429])]);
    });

    it('at many accounts from one address end after fifty, and other accounts have to wait too', async () => {
      const answers: number[] = [];
      for (let n = 0; n < 52; n += 1) answers.push((await tryLogin(`user-${n}`, 'guess')).status);
      expect(answers.filter((status) => status === 401)).to.have.lengthOf(50);
      expect((await tryLogin('ann', PASSWORD)).headers['retry-after']).to.equal('2');
      await backend.clock.advance(2_000);
      expect((await tryLogin('ann', PASSWORD)).status).to.equal(200);
    });

    it('in parallel allow no more guesses than in sequence', async () => {
      const clients = Array.from({ length: 30 }, () => new ApiClient(backend.apiPort));
      const answers = await Promise.all(
        clients.map((each, n) => {
          const headers = { authorization: basicHeader({ username: 'ann', password: `guess ${n}` }) };
          return each.request({ method: 'GET', path: '/auth', headers });
        }),
      );
      for (const each of clients) each.close();
      expect(answers.filter(({ status }) => status === 401)).to.have.lengthOf(10);
      expect(answers.filter(({ status }) => status === 429)).to.have.lengthOf(20);
    });

    it('do not end the sessions of the user or its tokens', async () => {
      const tokens = await login();
      await statuses(14, (n) => tryLogin('ann', `guess ${n}`));
      expect(await answersTo(tokens)).to.deep.equal([200, 200]);
    });

    it('are visible in the metrics, and no guess is in the log', async () => {
      await statuses(14, (n) => tryLogin('ann', `guess ${n}`));
      const { text } = await client.request({ method: 'GET', path: '/metrics' });
      expect(text).to.match(/^mon_logins_refused_total 4$/m);
      expect(JSON.stringify(backend.log.lines)).to.not.include('guess ');
    });
  });

  describe('A18 by headers of a proxy', () => {
    const spoofed = (address: string): Record<string, string> => ({
      'x-forwarded-for': address,
      'x-real-ip': address,
      forwarded: `for=${address};proto=https;host=evil.example`,
      'x-client-ip': address,
      'true-client-ip': address,
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
      'x-forwarded-user': 'admin',
      'x-remote-user': 'admin',
    });

    it('authenticate no client without credentials, and change no identity with them', async () => {
      for (const address of ['127.0.0.1', '::1', 'localhost']) {
        const anonymous = await client.request({ method: 'GET', path: USERS, headers: spoofed(address) });
        expect(anonymous.status).to.equal(401);
      }
      await admin.post(USERS, { username: 'plain', password_hash: PASSWORD_HASH });
      const { access } = tokensOf(await tryLogin('plain', PASSWORD));
      expect((await get(USERS, `Bearer ${access}`, spoofed('127.0.0.1'))).status).to.equal(403);
      expect((await get(`${USERS}/plain`, `Bearer ${access}`, spoofed('127.0.0.1'))).status).to.equal(200);
    });

    it('do not change the address that is throttled', async () => {
      const answers: number[] = [];
      for (let n = 0; n < 52; n += 1) {
        answers.push((await tryLogin(`user-${n}`, 'guess', spoofed(`10.0.0.${n}`))).status);
      }
      expect(answers.filter((status) => status === 429)).to.have.lengthOf(2);
      expect((await tryLogin('user-x', 'guess', spoofed('127.0.0.1'))).status).to.equal(429);
    });

    it('do not change the throttled address at the port for agents, which is also the listed one', async () => {
      const lines = (n: number) => [
        `Authorization: ${basicHeader({ username: 'agent', password: `guess ${n}` })}`,
        ...Object.entries(spoofed(`10.0.0.${n}`)).map(([name, value]) => `${name}: ${value}`),
      ];
      const statuses: number[] = [];
      for (let n = 0; n < 12; n += 1) {
        const { status } = await rawRequest(backend.agentPort, { path: '/', lines: lines(n), upgrade: true });
        statuses.push(status);
      }
      expect(statuses.filter((status) => status === 429)).to.have.lengthOf(2);
      const { json } = await admin.get('/api/mon/v1/handshake-refusals');
      expect(new Set((json as { address: string }[]).map(({ address }) => address))).to.deep.equal(
        new Set(['127.0.0.1']),
      );
    });

    it('are in no log and no ledger entry', async () => {
      await tryLogin('nobody', 'guess', spoofed('192.0.2.77'));
      const { access } = tokensOf(await tryLogin('ann', PASSWORD, spoofed('192.0.2.77')));
      await get(USERS, `Bearer ${access}`, spoofed('192.0.2.77'));
      await client.request({ method: 'GET', path: '/nowhere', headers: spoofed('192.0.2.77') });
      const entries = [...backend.store.ledgerEntries()];
      const said = JSON.stringify([backend.log.lines, entries]);
      for (const spoof of ['192.0.2.77', 'evil.example']) expect(said).to.not.include(spoof);
    });

    it('do not change the address at which clients refresh', async () => {
      const { access } = tokensOf(await tryLogin('ann', PASSWORD, spoofed('127.0.0.1')));
      expect(decodeJwt(access).iss).to.equal(`http://127.0.0.1:${backend.apiPort}`);
    });
  });
});

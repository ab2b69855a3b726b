import { hashSync } from '@node-rs/bcrypt';
import { expect } from 'chai';
import { basicHeader } from '../../../src/wire/handshake.ts';
import { ApiClient } from '../../support/api-client.ts';
import type { EarlierAnswer, EarlierClient } from '../../support/earlier-client.ts';
import { EarlierWorld } from '../../support/earlier-world.ts';
import { perTest } from '../../support/fixture.ts';
import { forgedToken } from '../../support/forged-token.ts';
import { at } from '../../support/json-path.ts';

const PASSWORD = 'ann-pass-1';
const HASH = hashSync(PASSWORD, { cost: 4 });
const USERS = '/api/core/v2/users';
/** Names that are none, escaped for a path. */
const HOSTILE = ['%2e%2e', '%2F', 'a%00b', 'a%0d%0ab', 'ａ', '%E2%80%AE', 'x'.repeat(10_000), '%', '%zz', '*', '~'];
const DEEP = 20_000;
/** The time for one request: the bound of 50 ms of processor time, on a busy machine. */
const ANSWER_MS = 1_000;

for (const listener of ['core', 'dashboard'] as const) {
  describe(`attacks on the API of the first generation, on the listener ${listener}`, () => {
    const world = perTest(() => EarlierWorld.start());
    let client: EarlierClient;

    beforeEach(() => {
      client = world[listener];
    });

    const createUser = (username: string, groups: string[]) =>
      world.admin.post(USERS, { username, password_hash: HASH, groups });
    const asAnn = { authorization: basicHeader({ username: 'ann', password: PASSWORD }) };
    const send = (method: string, path: string, body?: unknown, headers = {}): Promise<EarlierAnswer> =>
      client.send({ method, path, headers, ...(body === undefined ? {} : { body }) });

    it('A2: refuses invalid names, in paths and in bodies', async () => {
      for (const name of HOSTILE) {
        for (const path of [
          `/events/${name}/disk`,
          `/clients/${name}`,
          `/aggregates/${name}`,
          `/silenced/ids/${name}`,
        ]) {
          const { status } = await send('GET', path).catch(() => ({ status: 400 }));
          expect(status, path.slice(0, 30)).to.be.within(400, 499);
        }
      }
      for (const name of ['../etc', 'a/b', 'a\0b', 'x'.repeat(10_000), 'ａ', 'a\nb', ' ']) {
        const posts = [
          ['/results', { name, output: 'o' }],
          ['/results', { name: 'disk', output: 'o', source: name }],
          ['/clients', { dc: 'default', name, address: 'x' }],
          ['/request', { dc: 'default', check: name }],
          ['/silenced', { dc: 'default', check: name }],
          ['/silenced/clear', { dc: 'default', id: name }],
          ['/resolve', { client: name, check: 'disk' }],
          ['/resolve', { client: 'web-07', check: name }],
        ] as const;
        for (const [path, body] of posts) {
          expect((await send('POST', path, body)).status, `${path} ${name.slice(0, 9)}`).to.be.within(400, 499);
        }
      }
      for (const path of ['/results', '/clients', '/silenced'])
        expect((await send('GET', path)).json).to.deep.equal([]);
    });

    it('A6: gives no object a member by __proto__, in bodies and in queries', async () => {
      const hostile = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},';
      const bodies = [
        ['/results', `${hostile}"name":"disk","output":"o","source":"web-07"}`],
        ['/clients', `${hostile}"dc":"default","name":"sw-1","address":"x"}`],
        ['/stashes', `{"dc":"default","path":"a","content":${hostile}"a":1}}`],
        ['/silenced', `${hostile}"dc":"default","check":"disk"}`],
        ['/resolve', `${hostile}"client":"web-07","check":"disk"}`],
      ] as const;
      for (const [path, text] of bodies) {
        expect((await client.send({ method: 'POST', path, text })).status, path).to.be.below(500);
      }
      for (const query of ['__proto__=1', 'filter.__proto__.polluted=1', 'filter.constructor.name=Object']) {
        for (const path of ['/results', '/clients', '/silenced', '/stashes']) {
          expect((await send('GET', `${path}?${query}`)).status).to.equal(200);
        }
      }
      expect((await send('GET', '/results?filter.constructor.name=Object')).json).to.deep.equal([]);
      expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
    });

    it('A8: answers deep, long and odd JSON at once', async () => {
      const bodies = [
        ['['.repeat(DEEP), 400],
        [`{"name":"disk","output":"o","custom":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}`, 400],
        [`{"a":${'{"a":'.repeat(DEEP)}`, 400],
        [`{"name":"disk","output":"${'x'.repeat(600_000)}"}`, 413],
        ['{"name":"one","name":"disk","output":"o","source":"web-07"}', 202],
        ['{"name":"surrogate","output":"\\ud800","source":"web-07"}', 202],
        ['{"name":"disk","output":"o"} {}', 400],
      ] as const;
      for (const [text, status] of bodies) {
        const beganMs = performance.now();
        expect((await client.send({ method: 'POST', path: '/results', text })).status, text.slice(0, 40)).to.equal(
          status,
        );
        expect(performance.now() - beganMs).to.be.below(ANSWER_MS);
      }
      const names = ((await send('GET', '/results')).json as object[]).map((one) => at(one, 'check', 'name'));
      expect(names).to.deep.equal(['disk', 'surrogate']);
    });

    it('A9: refuses forged tokens, and tokens of a disabled user', async () => {
      await createUser('ann', ['cluster-admins']);
      const ann = await ApiClient.login(world.backend.apiPort, { username: 'ann', password: PASSWORD });
      const { json } = await ann.request({ method: 'GET', path: '/auth', headers: asAnn });
      ann.close();
      const token = String(at(json, 'access_token'));
      const asked = async (sent: string) => (await client.get('/events', { authorization: `Bearer ${sent}` })).status;
      expect(await asked(token)).to.equal(200);
      for (const forgery of [
        { header: { alg: 'none' }, sign: 'none' },
        { sign: 'cut' },
        { sign: 'flip' },
        { sign: 'hs256:' },
        { claims: { iss: 'https://attacker.example' } },
        { header: { kid: '../../dev/null' }, sign: 'hs256:' },
        { claims: { exp: 9_999_999_999 } },
      ]) {
        expect(await asked(forgedToken(token, forgery)), JSON.stringify(forgery)).to.equal(401);
      }
      await world.admin.delete(`${USERS}/ann`);
      expect(await asked(token)).to.equal(401);
    });

    it('A10: accepts API keys of users who may log in, and shows none', async () => {
      await createUser('ann', ['cluster-admins']);
      const { headers } = await world.admin.post('/api/core/v2/apikeys', { username: 'ann' });
      const key = String(headers['location']).split('/').at(-1) ?? '';
      const asked = async () => (await client.get('/settings', { authorization: `Key ${key}` })).status;
      expect(await asked()).to.equal(200);
      for (const path of ['/settings', '/info', '/results', '/clients']) {
        expect((await send('GET', path)).text).to.not.contain(key);
      }
      await world.admin.delete(`${USERS}/ann`);
      expect(await asked()).to.equal(401);
      expect(JSON.stringify(world.backend.log.lines)).to.not.contain(key);
    });

    it('A16: delays the guessing of passwords, of known users and others alike', async () => {
      await createUser('ann', ['cluster-admins']);
      for (const username of ['ann', 'nobody']) {
        const statuses: number[] = [];
        for (let guess = 0; guess < 40; guess += 1) {
          const authorization = basicHeader({ username, password: `guess-${guess}` });
          statuses.push((await client.get('/events', { authorization })).status);
        }
        expect(statuses.slice(0, 3), username).to.deep.equal([401, 401, 401]);
        expect(statuses.at(-1), username).to.equal(429);
      }
      expect((await client.get('/events', asAnn)).status).to.equal(429);
    });

    it('A17: hides secrets in clients, events, settings and the log', async () => {
      const secrets = { password: 'hunter2', nested: { api_key: 'hunter3' }, webhook_url: 'hunter4' };
      await send('POST', '/clients', { dc: 'default', name: 'sw-1', address: 'x', ...secrets });
      await send('POST', '/results', { dc: 'default', name: 'disk', output: 'o', status: 1, source: 'sw-1' });
      const metadata = { name: 'page', namespace: 'default' };
      const handler = { metadata, type: 'pipe', command: 'true', env_vars: ['TOKEN=hunter5'] };
      await world.admin.put('/ns/default/handlers/page', handler);
      for (const path of ['/clients', '/clients/sw-1', '/events', '/events/sw-1/disk', '/settings?redacted=false']) {
        const { status, text } = await send('GET', path);
        expect(status, path).to.equal(200);
        expect(text, path).to.not.match(/hunter\d/);
      }
      await client.get('/events', asAnn);
      const log = JSON.stringify(world.backend.log.lines);
      expect(log)
        .to.not.contain(PASSWORD)
        .and.to.not.match(/hunter\d/);
    });

    it('A18: treats no client as this machine because of a header, nor a web page', async () => {
      for (const headers of [
        { 'X-Forwarded-For': '127.0.0.1' },
        { Forwarded: 'for=127.0.0.1' },
        { 'X-Real-IP': '127.0.0.1' },
        { Via: '1.1 proxy' },
        { Host: 'attacker.example' },
        { Host: 'attacker.example:4567' },
        { Origin: 'https://attacker.example' },
        { Origin: 'null.example' },
        { Origin: 'null' },
        { Origin: 'http://203.0.113.5' },
        { Origin: 'http://[2001:db8::5]:8080' },
        { Origin: 'http://wiki' },
        { Origin: 'file://' },
      ]) {
        expect((await client.get('/events', headers)).status, JSON.stringify(headers)).to.equal(401);
      }
      for (const headers of [
        { Host: 'localhost:4567' },
        { Host: '[::1]:3000' },
        { Origin: 'http://127.0.0.1:3000' },
        { Origin: 'http://[::1]:3000' },
        { Origin: 'https://mon.localhost' },
        { Host: 'mon:4567', Origin: 'http://mon:3000' },
      ]) {
        expect((await client.get('/events', headers)).status, JSON.stringify(headers)).to.equal(200);
      }
    });
  });
}

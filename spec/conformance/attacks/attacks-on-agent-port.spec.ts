import { hashSync, verify } from '@node-rs/bcrypt';
import { expect } from 'chai';
import { Credentials } from '../../../src/auth/credentials.ts';
import { LoginThrottle } from '../../../src/auth/login-throttle.ts';
import { ResourceStore } from '../../../src/store/resource-store.ts';
import { basicHeader } from '../../../src/wire/handshake.ts';
import { type ApiAnswer, ApiClient } from '../../support/api-client.ts';
import { perTest } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { type RawAnswer, rawRequest } from '../../support/raw-handshake.ts';

const USERS = '/api/core/v2/users';
const PASSWORD = 'first-pass';
const COST = 4;
const SECOND_HASH = hashSync('second-pass', { cost: COST });

describe('A16: password guesses at the port for agents', () => {
  /** Whether hashes of the usual cost are compared, too. They are not the hash of any guess, and take 60 ms each. */
  let comparesAll = false;
  const verifyHash = async (password: string, hash: string): Promise<boolean> =>
    (comparesAll || hash.startsWith(`$2b$0${COST}$`)) && (await verify(password, hash));
  const backend = perTest(() => InProcessBackend.start({ verifyHash }));
  const admin = perTest(() => backend.login());
  /** A client without credentials of its own: it sends only the given ones. */
  const client = perTest(
    () => new ApiClient(backend.apiPort),
    (made) => made.close(),
  );

  beforeEach(async () => {
    comparesAll = false;
    const user = { username: 'ann', password_hash: hashSync(PASSWORD, { cost: COST }), groups: ['cluster-admins'] };
    expect((await admin.post(USERS, user)).status).to.equal(201);
  });

  const tryLogin = (username: string, password: string): Promise<ApiAnswer> =>
    client.request({ method: 'GET', path: '/auth', headers: { authorization: basicHeader({ username, password }) } });

  const knock = async (username: string, password: string, more: readonly string[] = []): Promise<RawAnswer> => {
    const lines = [`Authorization: ${basicHeader({ username, password })}`, 'Sensu-AgentName: a1', ...more];
    return rawRequest(backend.agentPort, { path: '/', lines: [...lines, 'Sensu-Namespace: default'], upgrade: true });
  };
  const knocks = async (count: number, username: string): Promise<number[]> => {
    const statuses: number[] = [];
    for (let n = 0; n < count; n += 1) statuses.push((await knock(username, `guess ${n}`)).status);
    return statuses;
  };
  const times = (count: number, status: number): number[] => Array<number>(count).fill(status);

  for (const username of ['agent', 'ann', 'nobody']) {
    it(`for ${username} are answered 401 ten times and then 429 with Retry-After, whether the user exists or not`, async () => {
      expect(await knocks(12, username)).to.deep.equal([...times(10, 401), ...times(2, 429)]);
      const { headers, body } = await knock(username, 'guess');
      expect([headers['retry-after'], body]).to.deep.equal([['30'], 'too many failed logins\n']);
    });
  }

  it('are counted together with those at the API', async () => {
    for (let n = 0; n < 5; n += 1) expect((await tryLogin('ann', `guess ${n}`)).status).to.equal(401);
    expect(await knocks(6, 'ann')).to.deep.equal([...times(5, 401), 429]);
    expect((await tryLogin('ann', PASSWORD)).status).to.equal(429);
  });

  it('do not lock out connected agents, nor delay an agent with an old password', async () => {
    await backend.connect({ name: 'first' });
    expect(await knocks(15, 'agent')).to.deep.equal(times(15, 401));
    await Promise.all(Array.from({ length: 50 }, (_, n) => backend.connect({ name: `a${n}` })));
    await admin.put(`${USERS}/agent/reset_password`, { password_hash: SECOND_HASH });
    expect(await knocks(15, 'agent')).to.deep.equal(times(15, 401));
    await backend.connect({ name: 'new', credentials: { username: 'agent', password: 'second-pass' } });
  });

  it('lock out the right password for 30 s at an address without an earlier login', async () => {
    await knocks(11, 'agent');
    expect((await knock('agent', 'P@ssw0rd!')).status).to.equal(429);
    await backend.clock.advance(30_000);
    expect((await knock('agent', 'P@ssw0rd!')).status).to.equal(101);
    expect((await knock('agent', 'P@ssw0rd!')).status).to.equal(101);
  });

  it('are listed among the refused handshakes, once for each reason', async () => {
    await knocks(13, 'agent');
    const { json } = await admin.get('/api/mon/v1/handshake-refusals');
    const refusals = (json as { status: number; reason: string; count: number; user: string }[]).map(
      ({ user, status, reason, count }) => [user, status, reason, count],
    );
    expect(refusals).to.deep.equal([
      ['agent', 429, 'too many failed logins', 3],
      ['agent', 401, 'bad credentials', 10],
    ]);
    expect(JSON.stringify(backend.log.lines)).to.not.include('guess ');
  });

  it('do not slow ten thousand legitimate agents that connect at once, because one hash admits all of them', async () => {
    let hashes = 0;
    const resources = new ResourceStore(backend.store);
    const credentials = new Credentials(resources, (password, hash) => {
      hashes += 1;
      return verify(password, hash);
    });
    const throttle = new LoginThrottle(backend.clock);
    const come = (address: string) =>
      throttle.login({ username: 'agent', remoteAddress: address, entryPoint: 'agents' }, (onGuess) =>
        credentials.verify('agent', 'P@ssw0rd!', onGuess),
      );
    const addresses = Array.from({ length: 10_000 }, (_, n) => `10.${n % 3}.${(n >> 8) % 4}.${n & 255}`);
    for (let time = 1; time <= 2; time += 1) {
      const users = await Promise.all(addresses.map(come));
      expect(users.filter((user) => user?.username === 'agent')).to.have.lengthOf(10_000);
    }
    expect([hashes, throttle.refused]).to.deep.equal([1, 0]);
  });

  it('take the same processor time as at the API, whether the user exists or not, for any cost of its hash', async () => {
    comparesAll = true;
    await admin.post(USERS, { username: 'known', password: PASSWORD });
    await admin.post(USERS, { username: 'gone', password: PASSWORD });
    await admin.delete(`${USERS}/gone`);
    const samples = new Map<string, number[]>(['known', 'gone', 'ann', 'nobody'].map((username) => [username, []]));
    for (let n = 0; n < 9; n += 1) {
      for (const [username, cpuMs] of samples) {
        const before = process.cpuUsage();
        expect((await tryLogin(username, `guess ${n}`)).status).to.equal(401);
        const { user, system } = process.cpuUsage(before);
        cpuMs.push((user + system) / 1_000);
      }
    }
    const medianOf = (username: string): number => samples.get(username)?.toSorted((a, b) => a - b)[4] ?? NaN;
    const unknownMs = medianOf('nobody');
    // 5 ms on an idle machine, where a hash takes about 60 ms.
    const slackMs = Math.max(5, unknownMs / 8);
    for (const username of samples.keys()) expect(medianOf(username), username).to.be.closeTo(unknownMs, slackMs);
  });
});

import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hashSync } from '@node-rs/bcrypt';
import { expect } from 'chai';
import { Authentication } from '../../../src/auth/authentication.ts';
import { Unauthenticated } from '../../../src/resources/errors.ts';
import { digestApiKey } from '../../../src/store/api-key-digest.ts';
import { lockStore } from '../../../src/store/lmdb/store-lock.ts';
import { agentEntity, checkEvent, keepalive, proxyEvent } from '../../support/example-events.ts';
import { eventually } from '../../support/eventually.ts';
import { perTest } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';
import { routeTable } from '../../support/route-table.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const CORE = '/api/core/v2';
const KEYS = `${CORE}/apikeys`;
const PASSWORD = 'Passw0rd-of-ann';
const REDACTED_VALUE = 'hunter2-of-the-entity';
const OTHERS = 0o077;
const HEX = /^(?:[\da-f]{2})+$/i;

async function filesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** The bytes of a text in hexadecimal digits; none for any other text, as `Buffer.from` stops at the first other character. */
const bytesOfHex = (text: string): Buffer => (HEX.test(text) ? Buffer.from(text, 'hex') : Buffer.alloc(0));

/** The `secrets` that are found in the files, in any spelling that a careless program would store. */
async function foundIn(directory: string, secrets: readonly string[]): Promise<string[]> {
  const texts = await Promise.all((await filesIn(directory)).map((file) => readFile(file)));
  const spellings = (secret: string): Buffer[] => [
    Buffer.from(secret),
    Buffer.from(secret, 'utf16le'),
    Buffer.from(Buffer.from(secret).toString('base64')),
    Buffer.from(Buffer.from(secret).toString('hex')),
    Buffer.from(secret.replaceAll('-', '')),
    bytesOfHex(secret.replaceAll('-', '')),
  ];
  return secrets.filter((secret) =>
    texts.some((text) => spellings(secret).some((spelling) => spelling.length > 0 && text.includes(spelling))),
  );
}

describe('secrets', () => {
  let stateDir: string;
  let eventLog: string;
  const parent = perTest(temporaryDirectory, (made) => made.remove());
  const backend = perTest(() => {
    stateDir = join(parent.path, 'state');
    eventLog = join(parent.path, 'events.log');
    return InProcessBackend.start({
      configure: (config) => ({ ...config, stateDir, eventLog: { file: eventLog, maxBuffered: 100 } }),
    });
  });
  const admin = perTest(() => backend.login());

  beforeEach(async () => {
    await admin.post(`${CORE}/users`, { username: 'ann', password: PASSWORD, groups: ['cluster-admins'] });
  });

  async function keyOfAnn(): Promise<string> {
    const { headers } = await admin.post(KEYS, { username: 'ann' });
    return String(headers.location).slice(KEYS.length + 1);
  }

  const said = (): string => JSON.stringify([backend.log.lines, [...backend.store.ledgerEntries()]]);

  it('A10 of keys are in no file, log or ledger entry after the keys were created, used and refused', async () => {
    const key = await keyOfAnn();
    const gone = await keyOfAnn();
    const wrong = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
    for (const secret of [key, gone, wrong]) {
      await admin.request({ method: 'GET', path: KEYS, headers: { authorization: `Key ${secret}` } });
      await admin.request({ method: 'GET', path: `/${secret}`, headers: { authorization: `Bearer ${secret}` } });
      await admin.patch(`${KEYS}/${secret}`, { metadata: { labels: { a: 'b' } } });
    }
    await admin.delete(`${KEYS}/${gone}`);
    await backend.restart();
    expect(await foundIn(parent.path, [key, gone, wrong, PASSWORD])).to.deep.equal([]);
    const { name } = digestApiKey(key);
    expect(await foundIn(parent.path, [name]), 'the scan finds what is there').to.deep.equal([name]);
    for (const secret of [key, gone, wrong, PASSWORD]) expect(said()).to.not.include(secret);
  });

  it('are found as text or as decoded hexadecimal bytes, and only as a whole', async () => {
    const key = await keyOfAnn();
    const [inBytes, beginning] = [Buffer.from(key.replaceAll('-', ''), 'hex'), Buffer.from('acce', 'hex')];
    await mkdir(join(parent.path, 'scan'));
    await writeFile(join(parent.path, 'scan', 'file'), Buffer.concat([beginning, inBytes]));
    expect(await foundIn(join(parent.path, 'scan'), [key, 'access-of-ann', 'acce'])).to.deep.equal([key, 'acce']);
  });

  it('A10 of keys are only in the answer that created them', async () => {
    const key = await keyOfAnn();
    const hash = digestApiKey(key).hash;
    const rows = (await routeTable()).filter(({ method, path }) => method === 'GET' && !path.startsWith('/docs'));
    for (const { path } of rows) {
      const { text, headers } = await admin.get(path.replace(':namespace', 'default').replaceAll(/:\w+/g, 'ann'));
      for (const secret of [key, hash]) expect(text + JSON.stringify(headers), path).to.not.include(secret);
    }
    const { text } = await admin.get(`${KEYS}/${key}`);
    expect(text).to.not.include(key);
    expect(text).to.not.include(hash);
  });

  it('A10 of keys are compared as a whole: a key with the name of a stored one and another hash is refused', async () => {
    const key = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
    const { name, hash } = digestApiKey(key);
    const stored = (kept: string) => ({ metadata: { name }, username: 'ann', hash: kept, created_at: 0 });
    const users = { username: 'ann', disabled: false, groups: [] };
    const statusWith = async (kept: string): Promise<string> => {
      const get = (kind: string) => (kind === 'apikeys' ? stored(kept) : users);
      const authentication = new Authentication({
        resources: { get: get as never },
        sessions: { callerOf: () => Promise.reject(new Unauthenticated('no token')) },
      });
      const caller = async () => authentication.callerOf(`Key ${key}`);
      return caller().then(
        ({ username }) => username,
        () => 'refused',
      );
    };
    const flipped = (index: number): string =>
      hash.slice(0, index) + (hash[index] === '0' ? '1' : '0') + hash.slice(index + 1);
    expect(await statusWith(hash)).to.equal('ann');
    for (const kept of [flipped(0), flipped(hash.length - 1), hash.slice(0, -1), `${hash}0`, '', hash.toUpperCase()]) {
      expect(await statusWith(kept)).to.equal('refused');
    }
  });

  it('A17 of passwords and tokens are in no log and no ledger entry, and clear passwords and tokens are not on the disk', async () => {
    const basic = `Basic ${Buffer.from(`ann:${PASSWORD}`).toString('base64')}`;
    const login = await admin.request({ method: 'GET', path: '/auth', headers: { authorization: basic } });
    const [access, refresh] = ['access_token', 'refresh_token'].map((name) => String(at(login.json, name)));
    const bearer = { authorization: `Bearer ${access}` };
    const password_hash = hashSync('second-pass', { cost: 4 });
    await admin.request({
      method: 'PUT',
      path: `${CORE}/users/ann/password`,
      headers: bearer,
      body: { password: PASSWORD, password_hash },
    });
    await admin.request({ method: 'POST', path: '/auth/token', headers: bearer, body: { refresh_token: refresh } });
    const ticket = String(at((await admin.post('/api/mon/v1/tickets', undefined)).json, 'ticket'));
    const secrets = [PASSWORD, 'second-pass', String(access), String(refresh), ticket];
    for (const secret of [...secrets, password_hash, basic]) expect(said()).to.not.include(secret);
    await backend.restart();
    expect(await foundIn(parent.path, secrets)).to.deep.equal([]);
  });

  it('A17 that an entity redacts are hidden in all answers, in the event log, the log and the ledger', async () => {
    const labels = { password: REDACTED_VALUE, plain: 'seen', own_word: REDACTED_VALUE };
    const metadata = {
      name: 'a1',
      namespace: 'default',
      labels,
      annotations: { 'api.key': 'x', secret: REDACTED_VALUE },
    };
    const entity = agentEntity('a1', { metadata, redact: ['password', 'secret', 'own_word'] });
    const agent = await backend.connect({ name: 'a1' });
    agent.send('keepalive', keepalive('a1', { entity }));
    agent.send('event', checkEvent('a1', 'c', { status: 2 }, { entity }));
    await agent.ping();
    const proxy = {
      entity_class: 'proxy',
      metadata: { ...metadata, name: 'p1' },
      redact: ['password', 'secret', 'own_word'],
    };
    await admin.put('/ns/default/events/p1/c', { ...proxyEvent('p1', 'c'), entity: proxy });
    await eventually(
      () => readFile(eventLog, 'utf8'),
      (text) => text.includes('"p1"'),
    );

    const texts: string[] = [];
    for (const { method, path } of await routeTable()) {
      if (method !== 'GET' || path.startsWith('/docs')) continue;
      for (const entityName of ['a1', 'p1']) {
        const filled = path.replace(':namespace', 'default').replace(':check', 'c').replaceAll(/:\w+/g, entityName);
        const { status, text } = await admin.get(filled);
        if (status === 200) texts.push(text);
        expect(text, filled).to.not.include(REDACTED_VALUE);
      }
    }
    expect(texts.filter((text) => text.includes('REDACTED') && text.includes('seen'))).to.have.length.above(3);
    expect(said()).to.not.include(REDACTED_VALUE);
    const logged = await readFile(eventLog, 'utf8');
    expect(logged).to.include('REDACTED');
    expect(logged).to.not.include(REDACTED_VALUE);
    const patched = await admin.patch('/ns/default/entities/p1', { metadata: { labels: { plain: 'other' } } });
    expect([patched.status, patched.text.includes(REDACTED_VALUE)]).to.deep.equal([200, false]);
  });

  it('A17 that an entity redacts are not shown by a patch that takes the redaction away', async () => {
    const path = '/ns/default/entities/vault';
    const [labels, annotations] = [{ pin: REDACTED_VALUE, password: REDACTED_VALUE }, { 'my-pin': REDACTED_VALUE }];
    const metadata = { name: 'vault', namespace: 'default', labels, annotations };
    const put = async (redact: string[]): Promise<void> => {
      const { status, text } = await admin.put(path, { entity_class: 'proxy', metadata, redact });
      expect(status, text).to.equal(200);
    };
    await put(['pin', 'password', 'my_pin']);
    const uncovering: [patch: object, field: string][] = [
      [{ redact: ['pin', 'my_pin'] }, 'labels "password"'],
      [{ redact: ['password', 'my_pin'] }, 'labels "pin"'],
      [{ redact: ['password', 'pin'] }, 'annotations "my-pin"'],
      [{ redact: null }, 'labels "pin"'],
      [{ redact: [] }, 'labels "pin"'],
      [{ redact: ['other'], metadata: { labels: { pin: 'new' } } }, 'labels "password"'],
    ];
    for (const [patch, field] of uncovering) {
      const { status, text } = await admin.patch(path, patch);
      expect(status, text).to.equal(400);
      expect(text).to.include('redact must still cover').and.not.include(REDACTED_VALUE);
      expect(JSON.parse(text)).to.have.property('message').that.includes(field);
    }
    expect((await admin.get(path)).text).to.not.include(REDACTED_VALUE);

    const withNew = { redact: ['other'], metadata: { labels: { pin: '1', password: null }, annotations: null } };
    expect(await admin.patch(path, withNew)).to.have.property('status', 200);
    const { json, text } = await admin.get(path);
    expect(at(json, 'metadata', 'labels')).to.deep.equal({ pin: '1' });
    expect(text).to.not.include(REDACTED_VALUE);

    await put(['password', 'pin']);
    expect(await admin.patch(path, { redact: ['pin', 'password', 'my_pin'] })).to.have.property('status', 200);
    expect(await admin.patch(path, { redact: ['PIN', 'pass_word', 'mypin'] })).to.have.property('status', 200);
    expect((await admin.get(path)).text).to.not.include(REDACTED_VALUE);
  });

  it('A17 that are redacted cannot be found out by a selector', async () => {
    const metadata = { name: 'p1', namespace: 'default', labels: { password: REDACTED_VALUE } };
    await admin.post('/ns/default/entities', { entity_class: 'proxy', metadata });
    await admin.put('/ns/default/events/p1/c', {
      ...proxyEvent('p1', 'c'),
      entity: { entity_class: 'proxy', metadata },
    });
    for (const kind of ['entities', 'events']) {
      const count = async (value: string): Promise<number> => {
        const selector = encodeURIComponent(`password matches "${value}"`);
        return ((await admin.get(`/ns/default/${kind}?labelSelector=${selector}`)).json as object[]).length;
      };
      expect([kind, await count('hunter2'), await count('hunter3')]).to.deep.equal([kind, 0, 0]);
    }
  });

  it('A17 in files of the backend and its state directory are readable by their owner only', async () => {
    for (const directory of [stateDir, join(stateDir, 'store')]) {
      expect((await stat(directory)).mode & OTHERS, directory).to.equal(0);
    }
    expect((await stat(join(stateDir, 'control.sock'))).mode & OTHERS).to.equal(0);
    const readable: string[] = [];
    for (const file of await filesIn(stateDir)) if (((await stat(file)).mode & OTHERS) !== 0) readable.push(file);
    expect(readable).to.deep.equal([]);
  });

  it('A17 in a state directory that others could read become readable by their owner only at the next start', async () => {
    const open = join(parent.path, 'open', 'store');
    await mkdir(open, { recursive: true });
    await chmod(open, 0o755);
    lockStore(open).release();
    expect((await stat(open)).mode & OTHERS).to.equal(0);
  });

  it('A17 of the backend are not in the environment of the commands that it runs', async () => {
    process.env['MON_BACKEND_CLUSTER_ADMIN_PASSWORD'] = 'of-the-first-start';
    process.env['MON_BACKEND_CLUSTER_ADMIN_API_KEY'] = 'of-the-first-start';
    process.env['MON_PASSWORD'] = 'of-the-first-start';
    try {
      const output = join(parent.path, 'environment');
      const metadata = { name: 'env', namespace: 'default' };
      const command = `env > '${output}.part' && mv '${output}.part' '${output}'`;
      await admin.post('/ns/default/handlers', { metadata, type: 'pipe', command, env_vars: ['DECLARED=yes'] });
      await admin.put('/ns/default/events/p1/c', proxyEvent('p1', 'c', { status: 2, handlers: ['env'] }));
      const text = await eventually(() => readFile(output, 'utf8').catch(() => ''));
      expect(text).to.match(/^DECLARED=yes$/m);
      expect(text).to.match(/^PATH=/m);
      expect(text).to.not.include('of-the-first-start');
    } finally {
      delete process.env['MON_BACKEND_CLUSTER_ADMIN_PASSWORD'];
      delete process.env['MON_BACKEND_CLUSTER_ADMIN_API_KEY'];
      delete process.env['MON_PASSWORD'];
    }
  });
});

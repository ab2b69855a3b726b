import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { encodeFrame, STOP_TYPE } from '../../../src/wire/frame.ts';
import { eventually } from '../../support/eventually.ts';
import { keepalive, proxyEvent } from '../../support/example-events.ts';
import { type Example, exampleResources } from '../../support/example-resources.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { parametersOf, pathWith, routeTable, titleOf } from '../../support/route-table.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** Texts that must not become part of a key or of a path on the disk. */
const HOSTILE: readonly [string, string][] = [
  ['the directory itself', '.'],
  ['the directory above', '..'],
  ['a path upwards', '../../etc/passwd'],
  ['a path upwards in the notation of Windows', '..\\..\\outside'],
  ['an absolute path', '/etc/passwd'],
  ['a path that is escaped twice', '..%2f..%2foutside'],
  ['NUL', 'a\0b'],
  ['NUL alone', '\0'],
  ['a line feed', 'a\nb'],
  ['a blank', ' '],
  ['10 KB', 'a'.repeat(10_240)],
  ['a Cyrillic letter that looks like a Latin one', 'аdmin'],
  ['full-width letters', 'ａｄｍｉｎ'],
  ['full-width dots', '．．／outside'],
  ['a right-to-left override', 'a\u202eb'],
  ['a zero-width space', 'ad\u200bmin'],
  ['a combining accent', 'e\u0301'],
  ['a lone surrogate', 'a\ud800'],
  ['a shell substitution', '$(touch outside)'],
  ['a template', '{{ .name }}'],
];
/** The entity of an agent that stops is deregistered after this time. */
const GRACE_MS = 900;
/** The only parameter that is not a name: a group is not a key and may be any text. */
const FREE_TEXT = new Set(['group']);

const escaped = (name: string): string =>
  name === '.' || name === '..' ? name.replaceAll('.', '%2e') : encodeURIComponent(Buffer.from(name).toString());

describe('A2 names', () => {
  const rows = perSuite(routeTable);
  const parent = perSuite(temporaryDirectory, (made) => made.remove());
  const backend = perSuite(async () => {
    const deep = join(parent.path, 'a', 'b');
    await mkdir(deep, { recursive: true });
    const places = { stateDir: join(deep, 'state'), cacheDir: join(deep, 'cache') };
    return InProcessBackend.start({ configure: (config) => ({ ...config, ...places }) });
  });
  const admin = perSuite(() => backend.login());
  let outside: string;

  before(async () => {
    outside = join(parent.path, 'outside');
    await writeFile(outside, 'as it was');
  });

  /** Asserts that there is no file beside the state directory and no unexpected error in the log. */
  async function expectUntouched(): Promise<void> {
    expect(await readdir(parent.path)).to.have.members(['a', 'outside']);
    expect(await readdir(join(parent.path, 'a'))).to.deep.equal(['b']);
    expect((await readdir(join(parent.path, 'a', 'b'))).filter((name) => name !== 'cache')).to.deep.equal(['state']);
    expect(await readdir(join(parent.path, 'a', 'b', 'state'))).to.have.members(['control.sock', 'store']);
    expect(await readFile(outside, 'utf8')).to.equal('as it was');
    expect(existsSync(join(process.cwd(), 'outside'))).to.equal(false);
    expect(backend.log.errors).to.deep.equal([]);
  }

  const stored = (): string => JSON.stringify([...backend.store.range('resources', { from: '', to: '\uffff' })]);

  for (const [what, name] of HOSTILE) {
    it(`A2 that are ${what} are refused in each path, without an effect`, async () => {
      const before = stored();
      const wrong: object[] = [];
      for (const row of rows) {
        for (const parameter of parametersOf(row).filter((each) => !FREE_TEXT.has(each))) {
          const place = (each: string): string => (each === parameter ? escaped(name) : 'default');
          const body = row.reads === 'nothing' ? {} : { body: {} };
          const { status } = await admin.request({ method: row.method, path: pathWith(row, place), ...body });
          if (status < 400 || status > 499) wrong.push([titleOf(row), parameter, status]);
        }
      }
      expect(wrong).to.deep.equal([]);
      expect(stored()).to.equal(before);
      await expectUntouched();
    });

    it(`A2 that are ${what} are refused in each body, without an effect`, async () => {
      const before = stored();
      const wrong: object[] = [];
      for (const { home, body } of bodies()) {
        const { status } = await admin.post(home, body(name));
        if (status !== 400) wrong.push([home, status]);
      }
      expect(wrong).to.deep.equal([]);
      expect(stored()).to.equal(before);
      await expectUntouched();
    });
  }

  it('A2 of the greatest length are accepted, and longer ones are refused', async () => {
    for (const [length, status] of [
      [600, 201],
      [601, 400],
    ] as const) {
      const metadata = { name: 'n'.repeat(length), namespace: 'default' };
      const check = { metadata, command: 'true', interval: 1 };
      expect((await admin.post('/ns/default/checks', check)).status).to.equal(status);
    }
  });

  it('A2 of handlers and pipelines in events that are too long to be stored name nothing that exists', async () => {
    const name = 'h'.repeat(10_240);
    const { entity, check } = proxyEvent('named', 'c', { handlers: [name], status: 2 });
    const pipelines = [{ api_version: 'core/v2', type: 'Pipeline', name }];
    const metrics = { handlers: [name], points: [{ name: 'm', value: 1, timestamp: 1 }] };
    const { status } = await admin.put('/ns/default/events/named/c', { entity, check, pipelines, metrics });
    expect(status).to.equal(200);
    expect(await admin.event('named', 'c')).to.have.nested.property('check.status', 2);
    const { json } = await admin.get('/api/mon/v1/namespaces/default/notifications?entity=named&check=c');
    const outcomes = (json as { handler: string; outcome: string }[]).map(({ outcome }) => outcome);
    expect(outcomes).to.deep.equal(['skipped', 'skipped']);
    await expectUntouched();
  });

  it('A2 of the deregistration handler of an entity that are too long to be stored do not prevent its end', async () => {
    const agent = await backend.connect({ name: 'leaving', queueId: randomUUID() });
    const leaving = { deregister: true, deregistration: { handler: 'h'.repeat(10_240) } };
    agent.send('keepalive', keepalive('leaving', { entity: leaving }));
    await eventually(() => admin.entity('leaving'), Boolean, { what: 'the entity' });
    agent.sendRaw(encodeFrame(STOP_TYPE, ''));
    await eventually(
      async () => (await admin.ledger({ actor: 'agent', key: 'default/leaving' })).map(({ event }) => event),
      (events) => events.includes('stop.announced'),
      { what: 'the announcement' },
    );
    await backend.clock.advance(GRACE_MS);
    expect(await admin.entity('leaving')).to.equal(undefined);
    await expectUntouched();
  });

  it('A2 of users that look like the name of another user are refused', async () => {
    for (const username of ['аdmin', 'admin\u200b', 'ａdmin', 'Admin', 'admin\0', ' admin', 'admin ', 'admin\n']) {
      const { status } = await admin.post('/api/core/v2/users', { username, password: 'Passw0rd-1' });
      expect(status, JSON.stringify(username)).to.equal(400);
    }
  });
});

/** Every place where a body names something that becomes part of a key. */
function bodies(): Example[] {
  const home = '/api/core/v2/namespaces/default';
  const check = (name: string): object => ({ metadata: { name, namespace: 'default' }, interval: 1, status: 0 });
  const entity = { entity_class: 'proxy', metadata: { name: 'e', namespace: 'default' } };
  return [
    ...exampleResources('default'),
    { home: `${home}/events`, body: (name) => proxyEvent(name, 'c') },
    { home: `${home}/events`, body: (name) => ({ entity, check: check(name) }) },
    {
      home: `${home}/events`,
      body: (name) => ({ entity, check: { ...check('c'), proxy_entity_name: name } }),
    },
    { home: `${home}/silenced`, body: (name) => ({ metadata: { namespace: 'default' }, subscription: name }) },
    { home: '/api/core/v2/apikeys', body: (username) => ({ username }) },
  ];
}

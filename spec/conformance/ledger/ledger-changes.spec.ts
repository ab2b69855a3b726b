import { expect } from 'chai';
import type { LedgerEntry } from '../../../src/store/ledger/ledger.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { SECRET_HASH } from '../../support/secret-writes.ts';
import { readLedger } from '../../support/read-ledger.ts';

const CORE = '/api/core/v2';
const metadata = { name: 'a', namespace: 'default', labels: { one: '1', two: '2' } };
const rules = [{ verbs: ['get'], resources: ['checks'], resource_names: null }];
const subjects = [{ type: 'User', name: 'admin' }];
const role_ref = { type: 'Role', name: 'a' };

const APPLIED: readonly [path: string, body: object][] = [
  ['/ns/default/checks/a', { metadata, command: 'true', interval: 60, subscriptions: ['linux'] }],
  ['/ns/default/handlers/a', { metadata, type: 'pipe', command: 'true' }],
  ['/ns/default/roles/a', { metadata, rules }],
  ['/ns/default/rolebindings/a', { metadata, subjects, role_ref }],
  ['/ns/default/entities/a', { metadata, entity_class: 'proxy', subscriptions: ['linux'] }],
  [
    '/ns/default/silenced/linux:a',
    { metadata: { name: 'linux:a', namespace: 'default' }, subscription: 'linux', check: 'a', begin: 1, expire: -1 },
  ],
  [`${CORE}/namespaces/other`, { name: 'other' }],
  [`${CORE}/users/ann`, { username: 'ann', password_hash: SECRET_HASH, groups: ['ops'] }],
  [`${CORE}/tessen`, { opt_out: true }],
];

describe('the ledger, when configuration is applied,', () => {
  const backend = perSuite(() => InProcessBackend.start());
  const api = perSuite(() => backend.login());

  const entries = (): LedgerEntry[] => readLedger(backend.store);

  async function put(path: string, body: object): Promise<LedgerEntry[]> {
    const before = entries().length;
    const { status, text } = await api.put(path, body);
    expect(status, text).to.be.within(200, 201);
    return entries().slice(before);
  }

  for (const [path, body] of APPLIED) {
    it(`has no entry of an apply that changes nothing: ${path}`, async () => {
      expect(await put(path, body)).to.not.deep.equal([]);
      expect(await put(path, body)).to.deep.equal([]);
    });
  }

  it('has no entry of an apply that only changes the order of labels', async () => {
    const check = { command: 'true', interval: 60, subscriptions: ['linux'] };
    const swapped = { ...metadata, labels: { two: '2', one: '1' } };
    expect(await put('/ns/default/checks/a', { ...check, metadata: swapped })).to.deep.equal([]);
  });

  it('keeps the configuration revision at an apply that changes nothing', async () => {
    const revision = () => backend.store.get('meta', 'config-revision');
    const before = revision();
    await put(...(APPLIED[0] ?? ['', {}]));
    expect(revision()).to.equal(before);
  });

  describe('about rights', () => {
    const details = (found: readonly LedgerEntry[], actor: string) =>
      found.find((entry) => entry.actor === actor)?.details;

    it('has the rules of a role before and after a change, its creation and its deletion', async () => {
      const path = '/ns/default/roles/rights';
      const role = { metadata: { name: 'rights', namespace: 'default' }, rules };
      const more = [{ verbs: ['*'], resources: ['checks'], resource_names: null }];
      expect(details(await put(path, role), 'roles')).to.deep.equal({ changed: [], after: { rules } });
      expect(details(await put(path, { ...role, rules: more }), 'roles')).to.deep.equal({
        changed: ['rules'],
        before: { rules },
        after: { rules: more },
      });
      await api.delete(path);
      expect(entries().at(-1)?.details).to.deep.equal({ changed: [], before: { rules: more } });
    });

    it('has the subjects and the role of a binding', async () => {
      const path = `${CORE}/clusterrolebindings/rights`;
      const binding = { metadata: { name: 'rights' }, subjects, role_ref: { type: 'ClusterRole', name: 'view' } };
      await put(path, binding);
      const others = [{ type: 'Group', name: 'ops' }];
      expect(details(await put(path, { ...binding, subjects: others }), 'clusterrolebindings')).to.deep.equal({
        changed: ['subjects'],
        before: { subjects, role_ref: binding.role_ref },
        after: { subjects: others, role_ref: binding.role_ref },
      });
    });

    it('has the groups of a user and whether the user is disabled, and never the password', async () => {
      await api.put(`${CORE}/users/ann/groups/dev`, {});
      expect(entries().at(-1)?.details).to.deep.equal({
        changed: ['groups'],
        before: { groups: ['ops'], disabled: false },
        after: { groups: ['ops', 'dev'], disabled: false },
      });
      await api.delete(`${CORE}/users/ann`);
      expect(entries().at(-1)?.details).to.deep.include({ after: { groups: ['ops', 'dev'], disabled: true } });
      expect(JSON.stringify(entries())).to.not.include('$2');
    });

    it('has the user of an API key before and after a change, and never its hash', async () => {
      const before = entries().length;
      await put(`${CORE}/users/kim`, { username: 'kim', password_hash: SECRET_HASH, groups: [] });
      const created = await api.post(`${CORE}/apikeys`, { username: 'kim' });
      expect(created.status, created.text).to.equal(201);
      await api.delete(`${CORE}/apikeys/${String(created.headers['location']).split('/').at(-1)}`);
      const found = entries()
        .slice(before)
        .filter(({ actor }) => actor === 'apikeys');
      expect(found.map((entry) => [entry.event, entry.details])).to.deep.equal([
        ['resource.created', { changed: [], after: { username: 'kim', created_at: backend.nowS } }],
        ['resource.deleted', { changed: [], before: { username: 'kim', created_at: backend.nowS } }],
      ]);
    });

    it('has no values of a change that affects no right', async () => {
      const labelled = { metadata: { ...metadata, labels: { one: 'x' } }, rules };
      expect(details(await put('/ns/default/roles/a', labelled), 'roles')).to.deep.equal({ changed: ['metadata'] });
    });
  });
});

describe('the ledger, when the status of a check changes,', () => {
  const backend = perSuite(() => InProcessBackend.start());
  const api = perSuite(() => backend.login());

  async function put(status: number, output: string): Promise<void> {
    const entity = { entity_class: 'proxy', metadata: { name: 'web', namespace: 'default' } };
    const annotations = { password: 'hunter2' };
    const check = { metadata: { name: 'disk', namespace: 'default', annotations }, interval: 10, status, output };
    const answer = await api.put('/ns/default/events/web/disk', { entity, check });
    expect(answer.status, answer.text).to.be.within(200, 201);
  }

  it('has an entry for each change of the status, also within one state, with the redacted beginning of the output', async () => {
    for (const status of [0, 3, 3, 2, 1, 1, 0, 0]) await put(status, `status ${status} of hunter2 ${'x'.repeat(500)}`);
    const entries = readLedger(backend.store, { actor: 'check-state', key: 'default/web/disk' });
    expect(
      entries.map(({ from, to, details }) => [from, to, details?.['previousStatus'], details?.['status']]),
    ).to.deep.equal([
      [null, 'passing', undefined, 0],
      ['passing', 'failing', 0, 3],
      ['failing', 'failing', 3, 2],
      ['failing', 'failing', 2, 1],
      ['failing', 'passing', 1, 0],
    ]);
    const output = String(entries[1]?.details?.['output']);
    expect(output)
      .to.match(/^status 3 of REDACTED x+$/)
      .and.have.lengthOf(200);
  });

  it('has an entry when other silences apply to an event, and none of an event that repeats the last one', async () => {
    const entity = { entity_class: 'proxy', metadata: { name: 'db', namespace: 'default' } };
    const check = { metadata: { name: 'disk', namespace: 'default' }, interval: 10, status: 2 };
    const result = () => api.put('/ns/default/events/db/disk', { entity, check });
    const metadata = { name: 'entity:db:*', namespace: 'default' };
    await result();
    await result();
    await api.put('/ns/default/silenced/entity:db:*', { metadata, subscription: 'entity:db', expire: -1 });
    await result();
    await result();
    await api.delete('/ns/default/silenced/entity:db:*');
    await result();
    await result();
    const entries = readLedger(backend.store, { actor: 'check-state', key: 'default/db/disk' });
    expect(
      entries.map(({ from, to, details }) => [from, to, details?.['previousOccurrences'], details?.['silenced']]),
    ).to.deep.equal([
      [null, 'failing', undefined, undefined],
      ['failing', 'failing', 2, ['entity:db:*']],
      ['failing', 'failing', 4, undefined],
    ]);
  });

  it('has the creator of a silence at its start and its end', async () => {
    const metadata = { name: 'linux:cpu', namespace: 'default' };
    await api.put('/ns/default/silenced/linux:cpu', { metadata, subscription: 'linux', check: 'cpu', expire: -1 });
    await api.delete('/ns/default/silenced/linux:cpu');
    const entries = readLedger(backend.store, { actor: 'silence', key: 'default/linux:cpu' });
    expect(entries.map(({ details }) => details?.['creator'])).to.deep.equal(['admin', 'admin']);
  });

  it('has the reason of a silence at its start and its end', async () => {
    const metadata = { name: 'linux:disk', namespace: 'default' };
    const silence = { metadata, subscription: 'linux', check: 'disk', reason: 'disk swap', expire: -1 };
    await api.put('/ns/default/silenced/linux:disk', silence);
    await api.put('/ns/default/silenced/linux:disk', { ...silence, reason: 'still the disk' });
    await api.delete('/ns/default/silenced/linux:disk');
    const entries = readLedger(backend.store, { actor: 'silence', key: 'default/linux:disk' });
    expect(entries.map(({ event, details }) => [event, details?.['reason']])).to.deep.equal([
      ['silence.created', 'disk swap'],
      ['silence.updated', 'still the disk'],
      ['silence.deleted', 'still the disk'],
    ]);
  });
});

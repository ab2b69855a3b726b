import { expect } from 'chai';
import { CORE, type Route } from '../../../src/http/request/route.ts';
import type { LedgerEntry } from '../../../src/store/ledger/ledger.ts';
import { ApiUnderTest } from '../../http/api-under-test.ts';
import { ADMIN, type ApiAnswer } from '../../support/api-client.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';
import { SECRET, type Write, WRITES } from '../../support/secret-writes.ts';

const KEYS = `${CORE}/apikeys`;
const EVENT = `${CORE}/namespaces/:namespace/events/:entity/:check`;

/** These have their own tests below. */
const OTHERS = [
  `POST ${KEYS}`,
  `PATCH ${KEYS}/:name`,
  `DELETE ${KEYS}/:name`,
  `POST ${CORE}/namespaces/:namespace/events`,
  `POST ${EVENT}`,
  `PUT ${EVENT}`,
  `DELETE ${EVENT}`,
];
/** Routes that change nothing that an operator has written. */
const NO_WRITES: Readonly<Record<string, string>> = {
  'POST /auth/token': 'sessions of logins are no configuration',
  'POST /auth/logout': 'sessions of logins are no configuration',
  'POST /api/mon/v1/namespaces/:namespace/notifications/:id/replay':
    'dead-letters.spec.ts: it changes no configuration',
  'POST /api/mon/v1/tickets': 'a ticket is good for one connection, and is nowhere stored',
  'POST /api/mon/v1/actors/:actor/:key/wake': 'supervision.spec.ts: only what is quarantined can be woken',
  'POST /api/mon/v1/namespaces/:namespace/pipeline/dry-run': 'dry-run.spec.ts: a dry run has no effect',
  [`POST ${CORE}/tessen/metrics`]: 'what is sent is dropped',
  [`POST ${CORE}/cluster/members`]: 'not supported',
  [`PUT ${CORE}/cluster/members/:memberId`]: 'not supported',
  [`DELETE ${CORE}/cluster/members/:memberId`]: 'not supported',
  [`PATCH ${CORE}/namespaces/:name`]: 'a namespace is its name, which it keeps',
  'POST /graphql': 'not supported',
  'PUT /api/enterprise/secrets/v1/providers/:name': 'the provider is built in, and the request changes nothing',
  'DELETE /api/enterprise/secrets/v1/providers/:name': 'the provider is built in',
};

const rowOf = ({ method, path }: Pick<Route, 'method' | 'path'>): string => `${method} ${path}`;

const WHAT = 'consist of one entry with its user, its key and the names of the changed members';

/** An entry about a write itself, not about its consequences. */
const isOfWrite = ({ event }: LedgerEntry): boolean =>
  event.startsWith('resource.') || event === 'check.requested' || event === 'event.deleted';

describe('the ledger entries of a write', () => {
  const backend = perSuite(() => InProcessBackend.start());
  const api = perSuite(() => backend.login());

  async function lastSeq(): Promise<number> {
    let seq = 0;
    for (;;) {
      const entries = await entriesAfter(seq);
      const last = entries.at(-1);
      if (last === undefined) return seq;
      ({ seq } = last);
    }
  }

  async function entriesAfter(seq: number): Promise<LedgerEntry[]> {
    const { json } = await api.get(`/api/mon/v1/ledger?limit=1000&continue=${seq}`);
    return (json as { entries: LedgerEntry[] }).entries;
  }

  /** The entries that the write left in the ledger. */
  async function written(write: () => Promise<ApiAnswer>): Promise<{ answer: ApiAnswer; entries: LedgerEntry[] }> {
    const before = await lastSeq();
    const answer = await write();
    expect(answer.status, answer.text).to.be.within(200, 204);
    return { answer, entries: await entriesAfter(before) };
  }

  const send = (method: string, path: string, body?: object): Promise<ApiAnswer> =>
    method === 'PATCH' ? api.patch(path, body) : api.request({ method, path, ...(body === undefined ? {} : { body }) });

  /** The rights before and after are in ledger-changes.spec.ts. */
  const summary = ({ actor, key, event, cause, details }: LedgerEntry) => {
    const { before: _before, after: _after, ...others } = details ?? {};
    return { actor, key, event, cause, details: details && others };
  };

  function expectOneEntry(
    entries: readonly LedgerEntry[],
    { actor, key, event, changed, beside = { kinds: [], key: '' } }: Omit<Write, 'route' | 'params'>,
  ) {
    const ofWrite = entries.filter(isOfWrite);
    const details = changed === undefined ? ofWrite[0]?.details : { changed: [...changed] };
    const cause = { user: ADMIN.username };
    const others = beside.kinds.map((kind) => ({ actor: kind, key: beside.key, event, cause, details }));
    expect(ofWrite.map(summary)).to.have.deep.members([{ actor, key, event, cause, details }, ...others]);
    expect(JSON.stringify(entries)).not.to.include(SECRET).and.not.to.include('$2');
  }

  it('cover every route of the API', async () => {
    const under = await ApiUnderTest.start();
    const rows = under.api.routes.filter(({ method }) => method !== 'GET').map(rowOf);
    await under.stop();
    const known = [...new Set(WRITES.map(({ route }) => route)), ...OTHERS, ...Object.keys(NO_WRITES)];
    expect(rows.toSorted()).to.deep.equal(known.toSorted());
  });

  for (const { route, params, body, isUnchanged = false, ...entry } of WRITES) {
    const what = isUnchanged ? 'are none when the write changes nothing' : WHAT;
    it(`${what}: ${route}`, async () => {
      const [method = '', path = ''] = route.split(' ');
      const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
      const { entries } = await written(() => send(method, filled, body));
      if (isUnchanged) expect(entries).to.deep.equal([]);
      else expectOneEntry(entries, entry);
    });
  }

  it('of a key consist of one entry without the key', async () => {
    const created = await written(() => send('POST', KEYS, { username: ADMIN.username }));
    const secret = created.answer.headers.location?.split('/').at(-1) ?? '';
    const name = created.entries[0]?.key ?? '';
    const patched = await written(() => send('PATCH', `${KEYS}/${secret}`, { metadata: { labels: { a: SECRET } } }));
    const deleted = await written(() => send('DELETE', `${KEYS}/${secret}`));
    const entry = { actor: 'apikeys', key: name };
    expectOneEntry(created.entries, { ...entry, event: 'resource.created', changed: [] });
    expectOneEntry(patched.entries, { ...entry, event: 'resource.updated', changed: ['metadata'] });
    expectOneEntry(deleted.entries, { ...entry, event: 'resource.deleted', changed: [] });
    expect(secret).to.match(/^[0-9a-f-]{36}$/);
    const all = JSON.stringify([created.entries, patched.entries, deleted.entries]);
    expect(all).not.to.include(secret);
  });

  const event = (check: string) => ({
    entity: { entity_class: 'proxy', metadata: { name: 'ev', namespace: 'default' } },
    check: {
      metadata: { name: check, namespace: 'default', annotations: { password: SECRET } },
      interval: 10,
      status: 1,
      output: SECRET,
      env_vars: [`TOKEN=${SECRET}`],
    },
  });

  for (const [row, path] of [
    [`POST ${CORE}/namespaces/:namespace/events`, '/ns/default/events'],
    [`POST ${EVENT}`, '/ns/default/events/ev/second'],
    [`PUT ${EVENT}`, '/ns/default/events/ev/third'],
  ] as const) {
    it(`of an event consist of the state change that it made: ${row}`, async () => {
      const [method = ''] = row.split(' ');
      const check = path.endsWith('events') ? 'first' : path.slice(path.lastIndexOf('/') + 1);
      const { entries } = await written(() => send(method, path, event(check)));
      const ofCheck = entries.filter(({ key }) => key === `default/ev/${check}`);
      expect(ofCheck.map(({ actor, to }) => [actor, to])).to.deep.equal([['check-state', 'failing']]);
      expect(ofCheck[0]?.cause).to.deep.equal({
        eventId: at(await api.event('ev', check), 'id'),
        user: ADMIN.username,
      });
      expect(JSON.stringify(entries)).not.to.include(SECRET);
    });
  }

  it('of an event without a state change are none', async () => {
    const { entries } = await written(() => send('PUT', '/ns/default/events/ev/third', event('third')));
    expect(entries).to.deep.equal([]);
  });

  it('of the resolution of an event consist of one entry', async () => {
    const { entries } = await written(() => send('DELETE', '/ns/default/events/ev/third'));
    expectOneEntry(entries, { actor: 'check-state', key: 'default/ev/third', event: 'event.deleted' });
  });
});

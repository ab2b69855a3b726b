import { expect } from 'chai';
import type { RouteRequest } from '../../../src/http/request/route.ts';
import { ledgerRoutes } from '../../../src/http/routes/ledger.ts';
import type { LedgerDraft } from '../../../src/store/ledger/ledger.ts';
import { ApiUnderTest } from '../api-under-test.ts';
import { perSuite } from '../../support/fixture.ts';

const LEDGER = '/api/mon/v1/ledger';

const draft = (atMs: number, actor: LedgerDraft['actor'], key: string): LedgerDraft => ({
  atMs,
  actor,
  key,
  from: null,
  event: 'x',
  to: 'registered',
  cause: { user: 'admin' },
  guards: [],
  configRevision: 0,
});

describe('the ledger over HTTP', () => {
  const api = perSuite(() => ApiUnderTest.start());
  before(async () => {
    await api.writeLedger([
      draft(1_000, 'entity', 'default/a'),
      draft(2_000, 'check-ttl', 'default/a/c'),
      draft(3_000, 'entity', 'default/b'),
      draft(4_000, 'entity', 'default/a'),
    ]);
    await api.writeLedger(Array.from({ length: 1_100 }, (_, n) => draft(10_000 + n, 'connection', 'many')));
    await api.writeLedger([
      { ...draft(25_000, 'check-state', 'default/a/c'), cause: { eventId: 'e', user: 'ann' } },
      { ...draft(26_000, 'entity', 'default/c'), cause: { deadlineAtMs: 26_000 } },
      { ...draft(27_000, 'connection', 's'), cause: { session: 's' } },
      { ...draft(28_000, 'ledger', 'head'), cause: { backend: 'anchor.due' } },
      { ...draft(29_000, 'ledger', 'head'), cause: { restore: true } },
    ]);
  });

  const seqs = async (query: string): Promise<unknown> =>
    ((await api.get(LEDGER + query)).body as { entries: { seq: number }[] }).entries.map(({ seq }) => seq);

  const filters: [string, number[]][] = [
    ['?until=9', [1, 2, 3, 4]],
    ['?until=9&actor=entity', [1, 3, 4]],
    ['?actor=entity&key=default/a', [1, 4]],
    ['?actor=entity&key=default%2Fb', [3]],
    ['?until=9&key=default/a/c', [2]],
    ['?since=2&until=3', [2, 3]],
    ['?since=1970-01-01T00:00:02Z&until=1970-01-01T01:00:03%2B01:00', [2, 3]],
    ['?since=1970-01-01T00:00:02.001Z&until=4', [3, 4]],
    ['?limit=2&continue=1', [2, 3]],
    ['?until=9&continue=4', []],
    ['?until=9&key_prefix=default/a', [1, 2, 4]],
    ['?key=default/a', [1, 4]],
    ['?until=9&event=x&user=admin&from=null&to=registered', [1, 2, 3, 4]],
    ['?until=9&user=ann', []],
    ['?until=9&event=y', []],
    ['?until=9&from=registered', []],
    ['?until=9&to=null', []],
    ['?from=2&to=3', [2, 3]],
    ['?from=1970-01-01T00:00:02Z&to=1970-01-01T00:00:03Z', [2, 3]],
    ['?from=2&since=3&to=9&until=4', [3, 4]],
    ['?since=20&cause=event', [1_105]],
    ['?since=20&cause=deadline', [1_106]],
    ['?since=20&cause=user', [1_105]],
    ['?since=20&cause=session', [1_107]],
    ['?since=20&cause=backend', [1_108]],
    ['?since=20&cause=restore', [1_109]],
    ['?until=9&cause=user&actor=entity', [1, 3, 4]],
    [`?actor=entity&key=${'x'.repeat(3_000)}`, []],
  ];
  for (const [query, expected] of filters) {
    it(`has ${expected.length} entries with ${query.slice(0, 60)}`, async () => {
      expect(await seqs(query)).to.deep.equal(expected);
    });
  }

  for (const name of ['from', 'to']) {
    it(`does not take a ${name} that is neither a state nor a time`, async () => {
      const { status, body } = await api.get(`${LEDGER}?${name}=xx`);
      expect(status).to.equal(400);
      expect(String((body as { message: unknown }).message)).to.match(
        new RegExp(`^${name} must be Unix seconds, an RFC 3339 time, null or a state: .*deregistered.*stored`),
      );
    });
  }

  it('is returned in pages of 100 entries by default and at most 1,000', async () => {
    const first = await api.get(LEDGER);
    expect((first.body as { entries: object[] }).entries).to.have.lengthOf(100);
    expect(first.headers['sensu-continue']).to.equal('100');
    expect(await seqs('?limit=5000')).to.have.lengthOf(1_000);
    const last = await api.get(`${LEDGER}?limit=1000&continue=1000`);
    expect((last.body as { entries: object[] }).entries).to.have.lengthOf(109);
    expect(last.headers).to.not.have.property('sensu-continue');
  });

  it('ends a page after a bounded number of entries, lets other requests run, and continues on the next page', async () => {
    const slices: number[] = [];
    let turns = 0;
    const [route] = ledgerRoutes({
      ledger: ({ afterSeq = 0 }) => {
        setImmediate(() => (turns += 1));
        slices.push(afterSeq);
        return { entries: [], afterSeq: afterSeq + 200 };
      },
    });
    const request = { query: new URLSearchParams('user=nobody'), isDisconnected: () => false };
    const answer = await route?.handle(request as RouteRequest);
    expect(slices).to.deep.equal(Array.from({ length: 50 }, (_, n) => n * 200));
    expect(answer).to.deep.include({ body: '{"entries":[]}', headers: { 'Sensu-Continue': '10000' } });
    expect(turns).to.be.at.least(slices.length - 1);
  });

  it('is not read further for a client that has disconnected', async () => {
    let slices = 0;
    const [route] = ledgerRoutes({
      ledger: ({ afterSeq = 0 }) => {
        slices += 1;
        return { entries: [], afterSeq: afterSeq + 200 };
      },
    });
    const request = { query: new URLSearchParams(), isDisconnected: () => slices >= 3 };
    await route?.handle(request as RouteRequest);
    expect(slices).to.equal(3);
  });

  it('ends a page after 4 MiB and continues on the next page', async () => {
    const long = await ApiUnderTest.start();
    try {
      const list = Array.from({ length: 100 }, () => 'x'.repeat(1_000));
      await long.writeLedger(
        Array.from({ length: 100 }, (_, n) => ({ ...draft(n, 'checks', 'k'), details: { list } })),
      );
      const sizes: number[] = [];
      for (let after: unknown = '0'; typeof after === 'string';) {
        const { status, body, text, headers } = await long.get(`${LEDGER}?limit=90&continue=${after}`);
        expect(status).to.equal(200);
        expect(text.length).to.be.below(4 * 1024 * 1024 + 200_000);
        sizes.push((body as { entries: object[] }).entries.length);
        after = headers['sensu-continue'];
      }
      expect(sizes.slice(0, 2)).to.deep.equal([42, 42]);
      expect(sizes.reduce((sum, size) => sum + size, 0)).to.equal(100);
    } finally {
      await long.stop();
    }
  });

  for (const [query, message] of [
    ['?limit=x', 'limit must be a whole number'],
    ['?limit=0', 'limit must be at least 1'],
    ['?continue=-1', 'continue must be a whole number'],
    ['?since=yesterday', 'since must be Unix seconds or an RFC 3339 time'],
    ['?until=2026-13-01T00:00:00Z', 'until must be Unix seconds or an RFC 3339 time'],
    ['?from=2026-13-01T00:00:00Z', 'from must be Unix seconds or an RFC 3339 time'],
    [
      '?keyprefix=a',
      'unknown parameter "keyprefix"; the known ones are actor, key, key_prefix, event, user, cause, from, to, since, until, limit, continue',
    ],
    ['?cause=magic', 'cause must be one of event, deadline, user, session, backend, restore'],
    ['?key=a&key=b', 'key must not be given more than once'],
  ] as const) {
    it(`is 400 with ${query}`, async () => {
      const { status, body } = await api.get(LEDGER + query);
      expect([status, body]).to.deep.equal([400, { message, code: 1 }]);
    });
  }

  it('is visible only to users who may list it', async () => {
    const as = async (resource: string) => {
      const token = await api.userWith(`of-${resource}`, [{ verbs: ['list'], resources: [resource] }]);
      return (await api.send({ path: LEDGER, headers: { authorization: `Bearer ${token}` } })).status;
    };
    expect([await as('ledger'), await as('events')]).to.deep.equal([200, 403]);
  });
});

describe('a request to wake an actor', () => {
  const api = perSuite(() => ApiUnderTest.start());

  const wake = (actor: string, key: string, headers: Record<string, string> = {}) =>
    api.send({ method: 'POST', path: `/api/mon/v1/actors/${actor}/${key}/wake`, headers });

  before(async () => {
    const check = { interval: 5, ttl: 60 };
    await api.send({
      method: 'PUT',
      path: '/api/core/v2/namespaces/default/events/web/disk',
      body: { entity: {}, check },
    });
  });

  it('decodes the key, answers without a body and records the request', async () => {
    expect(await wake('check-ttl', 'default%2Fweb%2Fdisk')).to.include({ status: 204, text: '' });
    const { body } = await api.get(`${LEDGER}?actor=check-ttl&key=default/web/disk`);
    const last = (body as { entries: object[] }).entries.at(-1);
    expect(last).to.deep.include({ event: 'wake.requested', cause: { user: 'admin' } });
  });

  it('is 404 for an actor that does not exist', async () => {
    expect((await wake('check-ttl', 'default%2Fweb%2Fcpu')).status).to.equal(404);
  });

  for (const [actor, key] of [
    ['connection', 'default%2Fweb'],
    ['entity', 'default%2F..%2Fweb'],
    ['entity', 'default%2F%2Fweb'],
    ['entity', 'x'.repeat(3_000)],
  ] as const) {
    it(`is 404 without calling a command for a key that no actor can have: ${actor} ${key.slice(0, 30)}`, async () => {
      const calls = api.calls.length;
      expect((await wake(actor, key)).status).to.equal(404);
      expect(api.calls).to.have.lengthOf(calls);
    });
  }

  it('needs the right to update the actor', async () => {
    const token = await api.userWith('waker', [
      { verbs: ['update'], resources: ['actors'], resource_names: ['entity/default/web'] },
    ]);
    const as = { authorization: `Bearer ${token}` };
    expect((await wake('entity', 'default%2Fweb', as)).status).to.equal(204);
    expect((await wake('entity', 'default%2Fdb', as)).status).to.equal(403);
  });

  it('lists the names of actors for a name that no entry has', async () => {
    const misspelt = await api.get(`${LEDGER}?actor=chekcs`);
    expect(misspelt.status).to.equal(400);
    expect((misspelt.body as { message: string }).message).to.match(/^actor must be one of .*check-state, .*checks, /);
    for (const actor of ['checks', 'silenced', 'tessen', 'refused-entities']) {
      const unused = await api.get(`${LEDGER}?actor=${actor}`);
      expect([unused.status, unused.body], actor).to.deep.equal([200, { entries: [] }]);
    }
  });
});

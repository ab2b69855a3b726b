import { expect } from 'chai';
import { type ApiAnswer, ApiClient } from '../../support/api-client.ts';
import { type Example, exampleResources } from '../../support/example-resources.ts';
import { proxyEvent } from '../../support/example-events.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';

const AT_ONCE = 20;
const PATCHES = 100;
const CORE = '/api/core/v2';

const many = <T>(count: number, act: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => act(n)));
const countOf = (answers: readonly ApiAnswer[], status: number): number =>
  answers.filter((answer) => answer.status === status).length;
const one = ({ home, id = (name) => name }: Example, name: string): string => `${home}/${encodeURIComponent(id(name))}`;
const kindOf = ({ home }: Example): string => home.split('/').at(-1) ?? '';

describe('concurrent requests for one resource', () => {
  const backend = perSuite(() => InProcessBackend.start());
  const admin = perSuite(() => backend.login());
  /** Each has several connections, so that requests reach the backend concurrently. */
  let callers: ApiClient[];

  before(async () => {
    callers = await many(4, () => ApiClient.login(backend.apiPort));
  });

  after(() => {
    for (const caller of callers) caller.close();
  });

  const anyone = (n: number): ApiClient => callers[n % callers.length] ?? admin;

  for (const example of exampleResources('default')) {
    const kind = kindOf(example);

    it(`create it once for ${AT_ONCE} identical POSTs of ${kind}, and answer 409 to the others`, async () => {
      const answers = await many(AT_ONCE, (n) => anyone(n).post(example.home, example.body('once')));
      const made = countOf(answers, 201) + countOf(answers, 200);
      expect([made, countOf(answers, 409)]).to.deep.equal([1, AT_ONCE - 1]);
      expect((await admin.get(one(example, 'once'))).status).to.equal(200);
    });

    it(`delete it for ${AT_ONCE} identical DELETEs of ${kind}, and answer 404 only after the deletion`, async () => {
      await admin.post(example.home, example.body('gone'));
      const answers = await many(AT_ONCE, (n) => anyone(n).delete(one(example, 'gone')));
      // A user can be disabled repeatedly.
      const done = kind === 'users' ? AT_ONCE : 1;
      expect([countOf(answers, 204), countOf(answers, 404)]).to.deep.equal([done, AT_ONCE - done]);
    });
  }

  const patchable = exampleResources('default').filter(({ home }) => !/\/(silenced|users|namespaces)$/.test(home));
  for (const example of patchable) {
    const kind = kindOf(example);

    it(`keep the changes of all ${PATCHES} PATCHes of one of ${kind}`, async () => {
      await admin.post(example.home, example.body('shared'));
      const answers = await many(PATCHES, (n) =>
        anyone(n).patch(one(example, 'shared'), { metadata: { labels: { [`l${n}`]: String(n) } } }),
      );
      expect(countOf(answers, 200)).to.equal(PATCHES);
      const labels = at((await admin.get(one(example, 'shared'))).json, 'metadata', 'labels') as object;
      expect(Object.keys(labels)).to.have.length(PATCHES);
    });

    it(`apply one of ${AT_ONCE} PATCHes of one of ${kind} with the same If-Match, and answer 412 to the others`, async () => {
      await admin.post(example.home, example.body('raced'));
      const tag = String((await admin.get(one(example, 'raced'))).headers.etag);
      const answers = await many(AT_ONCE, (n) =>
        anyone(n).patch(one(example, 'raced'), { metadata: { labels: { winner: String(n) } } }, { 'if-match': tag }),
      );
      expect([countOf(answers, 200), countOf(answers, 412)]).to.deep.equal([1, AT_ONCE - 1]);
      const winner = answers.findIndex(({ status }) => status === 200);
      const shown = (await admin.get(one(example, 'raced'))).json;
      expect(at(shown, 'metadata', 'labels', 'winner')).to.equal(String(winner));
    });
  }

  it(`create one event for ${AT_ONCE} identical POSTs, and answer 409 to the others`, async () => {
    const path = `${CORE}/namespaces/default/events`;
    const answers = await many(AT_ONCE, (n) => anyone(n).post(path, proxyEvent('e', 'c')));
    expect([countOf(answers, 200) + countOf(answers, 201), countOf(answers, 409)]).to.deep.equal([1, AT_ONCE - 1]);
    expect(at(await admin.event('e', 'c'), 'check', 'occurrences')).to.equal(1);
  });

  it(`create a separate key for each of ${AT_ONCE} POSTs of a key for one user`, async () => {
    const answers = await many(AT_ONCE, (n) => anyone(n).post(`${CORE}/apikeys`, { username: 'admin' }));
    expect(new Set(answers.map(({ headers }) => headers.location)).size).to.equal(AT_ONCE);
  });

  it('leave nothing without its namespace when POSTs run while the namespace is deleted', async () => {
    await admin.post(`${CORE}/namespaces`, { name: 'brief' });
    const kinds = exampleResources('brief').filter(({ home }) => home.includes('/brief/'));
    const deleting = admin.delete(`${CORE}/namespaces/brief`);
    const answers = await many(kinds.length, (n) => {
      const example = kinds[n];
      if (example === undefined) throw new Error('no such kind');
      return anyone(n).post(example.home, example.body('x'));
    });
    await deleting;
    for (const { status } of answers) expect(status).to.be.oneOf([200, 201, 404]);
    const isThere = (await admin.get(`${CORE}/namespaces/brief`)).status === 200;
    for (const example of kinds) {
      const { json } = await admin.get(example.home);
      if (!isThere) expect(json ?? [], example.home).to.deep.equal([]);
    }
  });
});

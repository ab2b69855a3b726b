import { expect } from 'chai';
import { type ApiAnswer, ApiClient } from '../support/api-client.ts';
import { type Example, exampleResources } from '../support/example-resources.ts';
import { proxyEvent } from '../support/example-events.ts';
import { perSuite } from '../support/fixture.ts';
import { InProcessBackend } from '../support/in-process-backend.ts';
import { at } from '../support/json-path.ts';

const AT_ONCE = 20;
const PATCHES = 100;
const CORE = '/api/core/v2';

const many = <T>(count: number, act: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => act(n)));
const countOf = (answers: readonly ApiAnswer[], status: number): number =>
  answers.filter((answer) => answer.status === status).length;
const one = ({ home, id = (name) => name }: Example, name: string): string => `${home}/${encodeURIComponent(id(name))}`;
const kindOf = ({ home }: Example): string => home.split('/').at(-1) ?? '';

describe('requests for one thing at once', () => {
  const backend = perSuite(() => InProcessBackend.start());
  const admin = perSuite(() => backend.login());
  /** Of several connections each: they reach the backend side by side. */
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

    it(`of ${AT_ONCE} identical POSTs of ${kind} one makes it, and the others are 409`, async () => {
      const answers = await many(AT_ONCE, (n) => anyone(n).post(example.home, example.body('once')));
      const made = countOf(answers, 201) + countOf(answers, 200);
      expect([made, countOf(answers, 409)]).to.deep.equal([1, AT_ONCE - 1]);
      expect((await admin.get(one(example, 'once'))).status).to.equal(200);
    });

    it(`of ${AT_ONCE} identical DELETEs of ${kind} none fails but for what is gone`, async () => {
      await admin.post(example.home, example.body('gone'));
      const answers = await many(AT_ONCE, (n) => anyone(n).delete(one(example, 'gone')));
      // A user is disabled, again and again.
      const done = kind === 'users' ? AT_ONCE : 1;
      expect([countOf(answers, 204), countOf(answers, 404)]).to.deep.equal([done, AT_ONCE - done]);
    });
  }

  const patchable = exampleResources('default').filter(({ home }) => !/\/(silenced|users|namespaces)$/.test(home));
  for (const example of patchable) {
    const kind = kindOf(example);

    it(`of ${PATCHES} PATCHes of one of ${kind} none is lost`, async () => {
      await admin.post(example.home, example.body('shared'));
      const answers = await many(PATCHES, (n) =>
        anyone(n).patch(one(example, 'shared'), { metadata: { labels: { [`l${n}`]: String(n) } } }),
      );
      expect(countOf(answers, 200)).to.equal(PATCHES);
      const labels = at((await admin.get(one(example, 'shared'))).json, 'metadata', 'labels') as object;
      expect(Object.keys(labels)).to.have.length(PATCHES);
    });

    it(`of ${AT_ONCE} PATCHes of one of ${kind} that have seen the same one wins, and the others are 412`, async () => {
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

  it(`of ${AT_ONCE} identical POSTs of an event one makes it, and the others are 409`, async () => {
    const path = `${CORE}/namespaces/default/events`;
    const answers = await many(AT_ONCE, (n) => anyone(n).post(path, proxyEvent('e', 'c')));
    expect([countOf(answers, 200) + countOf(answers, 201), countOf(answers, 409)]).to.deep.equal([1, AT_ONCE - 1]);
    expect(at(await admin.event('e', 'c'), 'check', 'occurrences')).to.equal(1);
  });

  it(`of ${AT_ONCE} POSTs of a key for one user each makes another`, async () => {
    const answers = await many(AT_ONCE, (n) => anyone(n).post(`${CORE}/apikeys`, { username: 'admin' }));
    expect(new Set(answers.map(({ headers }) => headers.location)).size).to.equal(AT_ONCE);
  });

  it('of POSTs into a namespace while it is deleted none is left without its namespace', async () => {
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

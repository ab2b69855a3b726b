import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import type { ApiAnswer } from '../../support/api-client.ts';
import { eventually } from '../../support/eventually.ts';
import { agentEntity, keepalive, proxyEvent } from '../../support/example-events.ts';
import { exampleResources } from '../../support/example-resources.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';
import { parametersOf, pathWith, type ApiRoute, routeTable } from '../../support/route-table.ts';

const CHECKS = '/ns/default/checks';
const LIMIT_BYTES = 512_000;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

const check = (name: string, more: object = {}): object => ({
  metadata: { name, namespace: 'default' },
  command: 'true',
  interval: 10,
  ...more,
});
const shown = ({ status, json }: ApiAnswer): object => ({ status, body: json });

describe('the HTTP behaviour that the dashboard relies on', () => {
  const backend = perSuite(() => InProcessBackend.start());
  const api = perSuite(() => backend.login());

  it('UI case 11: accepts a merge patch and a JSON body at one server', async () => {
    expect((await api.post(CHECKS, check('c11'))).status).to.equal(201);
    const patched = await api.patch(`${CHECKS}/c11`, { interval: 20 });
    expect([patched.status, at(patched.json, 'interval')]).to.deep.equal([200, 20]);
    expect((await api.post(CHECKS, check('c11-b'))).status).to.equal(201);
    const json = { 'content-type': 'application/json' };
    expect((await api.patch(`${CHECKS}/c11`, { interval: 30 }, json)).status).to.equal(400);
  });

  it('UI case 12: answers a truncated body with 400, message and code', async () => {
    expect(shown(await api.post(CHECKS, '{"a":'))).to.deep.equal({
      status: 400,
      body: { message: 'unexpected EOF', code: 1 },
    });
  });

  it('UI case 12: answers a body above the limit with 413, and reads one at the limit', async () => {
    const padded = (bytes: number): string => {
      const text = JSON.stringify(check('c12'));
      return text + ' '.repeat(bytes - text.length);
    };
    const over = await api.post(CHECKS, padded(LIMIT_BYTES + 1));
    expect([over.status, at(over.json, 'code')]).to.deep.equal([413, 1]);
    expect((await api.post(CHECKS, padded(LIMIT_BYTES))).status).to.equal(201);
  });

  it('UI case 12: reads a JSON body without a content type', async () => {
    const { headers } = await api.post('/api/core/v2/apikeys', { username: 'admin' });
    const key = String(headers.location).split('/').at(-1);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const path = '/api/core/v2/namespaces/default/checks';
      const sent = { authorization: `Key ${String(key)}` };
      const post = httpRequest({ port: backend.apiPort, host: '127.0.0.1', method: 'POST', path, headers: sent });
      post.on('response', (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      post.on('error', reject);
      post.end(JSON.stringify(check('c12-b')));
    });
    expect(status).to.equal(201);
  });

  it('UI case 13: removes members that are null at any depth, and replaces lists as a whole', async () => {
    await api.post(CHECKS, check('c13', { ttl: 30, handlers: ['a', 'b'] }));
    const labels = { a: '1', b: '2' };
    await api.patch(`${CHECKS}/c13`, { metadata: { labels } });
    const { json } = await api.patch(`${CHECKS}/c13`, {
      ttl: null,
      handlers: ['c'],
      metadata: { labels: { a: null } },
    });
    expect([at(json, 'ttl'), at(json, 'handlers'), at(json, 'metadata', 'labels')]).to.deep.equal([
      0,
      ['c'],
      { b: '2' },
    ]);
  });

  it('UI case 13: treats a member called __proto__ as unknown, as recorded, and no object inherits it', async () => {
    await api.post(CHECKS, check('c13-b'));
    const { status, json } = await api.patch(`${CHECKS}/c13-b`, '{"__proto__":{"command":"evil","polluted":1}}');
    expect([status, at(json, 'command')]).to.deep.equal([200, 'true']);
    expect({}).to.not.have.any.keys('command', 'polluted');
  });

  describe('UI case 14: for a GET with If-None-Match', () => {
    const again = async (path: string, ifNoneMatch: string): Promise<ApiAnswer> =>
      api.request({ method: 'GET', path, headers: { 'if-none-match': ifNoneMatch } });

    /** A check is covered as a whole by its ETag, as recorded; the ETag of an entity covers its configuration only. */
    const whole = /\/(checks|entities)$/;
    for (const { home, body, id = (name: string) => name } of exampleResources('default')) {
      if (whole.test(home)) continue;
      it(`answers 304 without a body until the resource changes: ${home}`, async () => {
        expect((await api.post(home, body('c14'))).status).to.equal(201);
        const path = `${home}/${id('c14')}`;
        const first = await api.get(path);
        const tag = String(first.headers.etag);
        for (const sent of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
          const { status, text, headers } = await again(path, sent);
          expect([status, text, headers.etag]).to.deep.equal([304, '', tag]);
        }
        for (const sent of ['"other"', tag.slice(1, -1), '']) {
          const { status, text } = await again(path, sent);
          expect([status, text]).to.deep.equal([200, first.text]);
        }
      });
    }

    it('answers 200 after a change, 404 after a deletion, and 401 and 403 before the resource is read', async () => {
      const path = '/ns/default/handlers/c14-b';
      const handler = { metadata: { name: 'c14-b', namespace: 'default' }, type: 'pipe', command: 'true' };
      await api.put(path, handler);
      const tag = String((await api.get(path)).headers.etag);
      await api.put(path, { ...handler, timeout: 5 });
      expect((await again(path, tag)).status).to.equal(200);
      const unknownKey = { authorization: 'Key 00000000-0000-4000-8000-000000000000', 'if-none-match': '*' };
      expect((await api.request({ method: 'GET', path, headers: unknownKey })).status).to.equal(401);
      await api.delete(path);
      expect((await again(path, '*')).status).to.equal(404);
    });

    it('answers 304 for an event until its check reports again', async () => {
      const path = '/ns/default/events/e14/c14';
      await api.put(path, proxyEvent('e14', 'c14'));
      const tag = String((await api.get(path)).headers.etag);
      expect((await again(path, tag)).status).to.equal(304);
      await api.put(path, proxyEvent('e14', 'c14', { status: 2 }));
      expect((await again(path, tag)).status).to.equal(200);
    });

    it('answers 200 for a check, as recorded', async () => {
      await api.post(CHECKS, check('c14'));
      const tag = String((await api.get(`${CHECKS}/c14`)).headers.etag);
      expect((await again(`${CHECKS}/c14`, tag)).status).to.equal(200);
    });

    it('answers 200 for an entity whose agent reported data that its ETag does not cover', async () => {
      const agent = await backend.connect({ name: 'a14' });
      agent.send('keepalive', keepalive('a14', { timestamp: backend.nowS }));
      await agent.ping();
      const path = '/ns/default/entities/a14';
      const before = await eventually(
        () => api.get(path),
        ({ status }) => status === 200,
      );
      const entity = agentEntity('a14', { system: { hostname: 'renamed' } });
      agent.send('keepalive', keepalive('a14', { timestamp: backend.nowS + 1, entity }));
      const tag = String(before.headers.etag);
      const after = await eventually(
        () => again(path, tag),
        ({ json }) => at(json, 'system', 'hostname') === 'renamed',
      );
      expect([after.status, after.headers.etag]).to.deep.equal([200, tag]);
    });
  });

  it('UI case 15: answers 405 with the allowed methods to other methods on every known path', async () => {
    const rows = await routeTable();
    const byPath = new Map<string, ApiRoute[]>();
    for (const row of rows) byPath.set(row.path, [...(byPath.get(row.path) ?? []), row]);
    // A literal matches where another path has a parameter: the methods of both are allowed.
    const isCovered = (path: string): boolean =>
      [...byPath.keys()].some((other) => other !== path && covers(other, path));
    const wrong: object[] = [];
    for (const [path, own] of byPath) {
      if (isCovered(path)) continue;
      const allowed = own.map(({ method }) => String(method));
      for (const method of METHODS.filter((each) => !allowed.includes(each))) {
        const { status, headers } = await api.request({ method, path: pathWith({ path }, () => 'x') });
        const allow = String(headers.allow ?? '').split(', ');
        if (status !== 405 || allow.toSorted().join() !== allowed.toSorted().join())
          wrong.push([method, path, status, allow]);
      }
    }
    expect(wrong).to.deep.equal([]);
  });

  const crons: [cron: string, status: number][] = [
    ['@every 90s', 201],
    ['CRON_TZ=Europe/Zurich 0 9 * * 1-5', 201],
    ['5/10 * * * *', 201],
    ['0 0 13 * 5', 201],
    ['0 0 L * *', 400],
    ['0 0 0 13 * 5', 400],
    ['0 0 * * 7', 400],
  ];
  for (const [cron, status] of crons) {
    it(`UI case 16: ${status === 201 ? 'accepts' : 'refuses'} a check with cron ${cron}`, async () => {
      const name = `c16-${crons.findIndex(([each]) => each === cron)}`;
      const answer = await api.post(CHECKS, { ...check(name, { interval: 0 }), cron });
      expect(answer.status, answer.text).to.equal(status);
      if (status === 400) expect(at(answer.json, 'message')).to.match(/cron/);
    });
  }
});

/** Whether a request for `path` could also match `other`. */
function covers(other: string, path: string): boolean {
  const [others, own] = [other.split('/'), path.split('/')];
  return (
    others.length === own.length &&
    others.every(
      (segment, index) => segment.startsWith(':') || own[index]?.startsWith(':') || segment === own[index],
    ) &&
    parametersOf({ path: other }).length > 0
  );
}

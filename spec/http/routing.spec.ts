import { expect } from 'chai';
import { ADMIN_KEY, ApiUnderTest, basic, REQUEST_LIMIT_BYTES } from './api-under-test.ts';
import { perSuite } from '../support/fixture.ts';

const CORE = '/api/core/v2';
const CHECKS = `${CORE}/namespaces/default/checks`;
const ANONYMOUS = { authorization: '' };

describe('a path of the REST API', () => {
  const api = perSuite(() => ApiUnderTest.start());

  const unknown = [
    '/nope',
    '/api',
    CORE,
    `${CORE}/`,
    `${CHECKS}/`,
    '/health/',
    '/API/core/v2/namespaces',
    '/auth/nope',
  ];
  for (const path of unknown) {
    it(`is 404 without credentials when it does not exist: ${path}`, async () => {
      const { status, body, headers } = await api.send({ path, headers: ANONYMOUS });
      expect([status, body]).to.deep.equal([404, { message: 'not found', code: 2 }]);
      expect(headers['x-content-type-options']).to.equal('nosniff');
    });
  }

  const otherMethods: [string, string, string][] = [
    ['PUT', `${CORE}/namespaces`, 'GET, POST'],
    ['PATCH', `${CORE}/users/x`, 'GET, PUT, DELETE'],
    ['OPTIONS', CHECKS, 'GET, POST'],
    ['HEAD', `${CORE}/namespaces`, 'GET, POST'],
    ['HEAD', '/health', 'GET'],
    ['POST', '/auth', 'GET'],
    ['DELETE', '/ready', 'GET'],
    ['PUT', '/version', 'GET'],
    ['POST', `${CORE}/events`, 'GET'],
    ['DELETE', `${CORE}/namespaces/default/events/a`, 'GET'],
  ];
  for (const [method, path, allow] of otherMethods) {
    it(`is 405 without credentials for a method that it does not have: ${method} ${path}`, async () => {
      const { status, text, headers } = await api.send({ method, path, headers: ANONYMOUS });
      expect([status, text, headers['allow']]).to.deep.equal([405, '', allow]);
    });
  }

  const unclean: [string, string][] = [
    [`${CORE}//namespaces`, `${CORE}/namespaces`],
    [`${CORE}/./namespaces?a=b&c`, `${CORE}/namespaces?a=b&c`],
    [`${CORE}/namespaces/../checks`, `${CORE}/checks`],
    [`${CHECKS}/..`, `${CORE}/namespaces/default`],
    ['//health', '/health'],
    ['/../../health', '/health'],
  ];
  for (const [path, location] of unclean) {
    it(`is redirected to its canonical spelling: ${path}`, async () => {
      const { status, headers } = await api.send({ path, headers: ANONYMOUS });
      expect([status, headers.location]).to.deep.equal([301, location]);
    });
  }

  const spellings: [string, number][] = [
    ['%zz', 400],
    ['%', 400],
    ['a%00b', 404],
    ['a%2fb', 404],
    ['%20', 404],
    ['%2e%2e', 404],
    ['%ff', 404],
    ['a'.repeat(4000), 404],
  ];
  for (const [name, expected] of spellings) {
    it(`is decoded once in each segment: a check named ${name.slice(0, 10)} is ${expected}`, async () => {
      expect((await api.get(`${CHECKS}/${name}`)).status).to.equal(expected);
    });
  }

  const absolute: [string, number][] = [
    [`http://mon.example:8080${CHECKS}?limit=1`, 200],
    [`HTTPS://mon.example${CHECKS}`, 200],
    ['http://mon.example/ready', 200],
    ['http://mon.example', 302],
    ['http://mon.example?a=b', 302],
    ['http://mon.example/%zz', 400],
    ['http:///ready', 301],
  ];
  for (const [target, expected] of absolute) {
    it(`may follow a host in the request target: ${target} is ${expected}`, async () => {
      expect((await api.get(target)).status).to.equal(expected);
    });
  }

  const unreadable = ['http://[::1/x', 'http://[::1', 'http://a:99999999/ready', 'ftp://[::1/x', 'ws://%@x/'];
  for (const target of unreadable) {
    it(`is 400 in a request target that cannot be parsed: ${target}`, async () => {
      const { status, text, headers } = await api.send({ path: target, headers: ANONYMOUS });
      expect([status, text]).to.deep.equal([400, '400 Bad Request']);
      expect(headers['content-type']).to.equal('text/plain; charset=utf-8');
    });
  }

  it('is redirected without the host of the request target, which replaces the Host header', async () => {
    const { status, headers } = await api.get(`http://mon.example${CORE}//namespaces`);
    expect([status, headers.location]).to.deep.equal([301, `${CORE}/namespaces`]);
    const { text } = await api.get(`http://mon.example:8080${CORE}/cluster/members`);
    expect(text).to.include('http://mon.example:8080').and.not.to.include('127.0.0.1');
  });

  it('cannot reach another namespace with an escaped slash', async () => {
    await api.put('namespaces', undefined, 'a', { name: 'a' });
    expect((await api.get(`${CORE}/namespaces/a%2Fb/events`)).status).to.equal(404);
    const { status, body } = await api.send({ method: 'POST', path: `${CORE}/namespaces/a%2Fb/events`, text: '{bad' });
    expect([status, body]).to.deep.equal([404, { message: 'the namespace a/b does not exist', code: 2 }]);
  });

  for (const query of ['?%zz', '?limit=%', '?a;b']) {
    it(`is 400 with a query that cannot be parsed: ${query}`, async () => {
      const { status, body } = await api.get(`${CORE}/namespaces${query}`);
      expect(status).to.equal(400);
      expect(body).to.have.property('code', 1);
    });
  }
});

describe('the credentials of a request', () => {
  const api = perSuite(() => ApiUnderTest.start());

  const refused: [string, string, string][] = [
    ['none', '', 'bad credentials'],
    ['Basic', basic('admin', 'Adm1n-P@ss'), 'bad credentials'],
    ['a scheme in lower case', 'bearer x', 'bad credentials'],
    ['an invalid bearer token', 'Bearer x', 'invalid credentials'],
    ['a bearer token of three dots', 'Bearer ..', 'invalid credentials'],
    ['an unknown key', 'Key 00000000-0000-4000-8000-000000000000', 'invalid credentials'],
    ['a key spelled as a path', `Key ./${ADMIN_KEY}`, 'invalid credentials'],
    ['a key in upper case', `Key ${ADMIN_KEY.toUpperCase()}`, 'invalid credentials'],
  ];
  for (const [what, authorization, message] of refused) {
    it(`are rejected with 401 \`${message}\`: ${what}`, async () => {
      const { status, body } = await api.send({ path: CHECKS, headers: { authorization } });
      expect([status, body]).to.deep.equal([401, { message, code: 5 }]);
    });
  }

  it('can be an API key of a user', async () => {
    const reply = await api.send({ path: CHECKS, headers: { authorization: `Key ${ADMIN_KEY}` } });
    expect(reply.status).to.equal(200);
  });

  it('become invalid as soon as the user is disabled', async () => {
    const token = await api.userWith('leaving', [{ verbs: ['*'], resources: ['*'] }]);
    const as = { authorization: `Bearer ${token}` };
    expect((await api.send({ path: CHECKS, headers: as })).status).to.equal(200);
    await api.putUser('leaving', { disabled: true });
    const { status, body } = await api.send({ path: CHECKS, headers: as });
    expect([status, body]).to.deep.equal([401, { message: 'invalid credentials', code: 5 }]);
    expect(
      (await api.send({ path: '/auth', headers: { authorization: basic('leaving', 'leaving') } })).status,
    ).to.equal(401);
  });

  it('are checked before the rights, and the rights before the body', async () => {
    const token = await api.userWith('reader', [{ verbs: ['get', 'list'], resources: ['checks'] }]);
    const post = { method: 'POST', path: CHECKS, text: '{bad' };
    expect((await api.send({ ...post, headers: ANONYMOUS })).status).to.equal(401);
    const forbidden = await api.send({ ...post, headers: { authorization: `Bearer ${token}` } });
    expect([forbidden.status, forbidden.body]).to.deep.equal([
      403,
      { message: 'unauthorized to perform action', code: 4 },
    ]);
    expect((await api.send(post)).status).to.equal(400);
  });
});

describe('the body of a request', () => {
  const api = perSuite(() => ApiUnderTest.start());

  const post = (text: string, headers: Record<string, string> = {}) =>
    api.send({ method: 'POST', path: `${CORE}/namespaces`, text, headers });

  const refused: [string, string, string | undefined][] = [
    ['nothing', '', 'EOF'],
    ['blanks', ' \n', 'EOF'],
    ['a cut object', '{"name":"x', undefined],
    ['a list', '[{}]', 'body must be a JSON object'],
    ['a text', '"x"', 'body must be a JSON object'],
    ['a number', '0', 'body must be a JSON object'],
    ['a byte order mark', '\uFEFF{"name":"x"}', undefined],
    ['single quotes', "{'name':'x'}", undefined],
    ['a trailing comma', '{"name":"x",}', undefined],
    ['20,000 nested lists', `{"name":"x","y":${'['.repeat(20_000)}${']'.repeat(20_000)}}`, undefined],
    ['240,000 quotes that never end', `{"${'\\"'.repeat(240_000)}`, undefined],
  ];
  for (const [what, text, message] of refused) {
    it(`is 400 when it is ${what}`, async () => {
      const { status, body } = await post(text);
      expect(status).to.equal(400);
      expect(body).to.have.property('code', 1);
      if (message !== undefined) expect(body).to.have.property('message', message);
    });
  }

  it('is 413 above the limit, with or without a Content-Length, and the connection stays open', async () => {
    const long = `{"name":"${'x'.repeat(REQUEST_LIMIT_BYTES)}"}`;
    expect((await post(long)).status).to.equal(413);
    const { status, body } = await post(long, { 'transfer-encoding': 'chunked' });
    expect(status).to.equal(413);
    expect(body).to.have.property('code', 1);
    expect((await api.get('/ready')).status).to.equal(200);
  });

  const accepted: [string, string, Record<string, string>][] = [
    ['of no content type', '{"name":"n1"}', {}],
    ['of a form', '{"name":"n2"}', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['followed by another value', '{"name":"n3"}{"name":"n4"}', {}],
    ['followed by rubbish', '{"name":"n5"} ]x', {}],
    ['with a member called __proto__', '{"__proto__":{"name":"evil"},"name":"n6"}', {}],
    ['with half a surrogate pair', '{"name":"n7","other":"\\ud800"}', {}],
  ];
  for (const [what, text, headers] of accepted) {
    it(`is accepted as JSON when it is ${what}`, async () => {
      expect((await post(text, headers)).status).to.equal(201);
    });
  }

  it('cannot change prototypes', async () => {
    await post('{"__proto__":{"polluted":true},"name":"n8","constructor":{"prototype":{"polluted":true}}}');
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
    expect((await post('{"__proto__":{"name":"evil"}}')).body).to.have.property(
      'message',
      'namespace name must not be empty',
    );
  });
});

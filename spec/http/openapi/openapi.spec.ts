import { expect } from 'chai';
import { describeApi } from '../../../src/http/openapi/openapi.ts';
import { docsRoutes } from '../../../src/http/routes/docs.ts';
import { ApiUnderTest } from '../api-under-test.ts';
import { type OpenApiDocument, ReadDocument } from './openapi-document.ts';
import { perSuite } from '../../support/fixture.ts';

const ANONYMOUS = { authorization: '' };
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];
/** The backend answers this path for every method, before it looks at the routes. */
const METRICS = '/metrics';

describe('the OpenAPI document', () => {
  const api = perSuite(() => ApiUnderTest.start());
  let document: OpenApiDocument;
  let read: ReadDocument;
  before(async () => {
    document = (await api.send({ path: '/openapi.json', headers: ANONYMOUS })).body as OpenApiDocument;
    read = new ReadDocument(document);
  });

  const pathOf = (template: string): string => template.replaceAll(/\{\w+\}/g, 'x');

  it('has one operation for each route', () => {
    const routes = api.api.routes.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
    const operations = read.operations.map(({ method, path }) => `${method} ${path}`);
    expect(operations.toSorted()).to.deep.equal([...routes, `GET ${METRICS}`].toSorted());
  });

  it('describes only what is served: each operation is answered, or asks for credentials where the document says so', async () => {
    for (const { method, path, security, responses } of read.operations) {
      const { status } = await api.send({ method, path: pathOf(path), headers: ANONYMOUS });
      expect(Object.keys(responses), `${method} ${path}`).to.include(String(status));
      const isClosed = security.length > 0 && !security.some((one) => 'basic' in one);
      if (isClosed) expect(status, `${method} ${path}`).to.equal(401);
      else if (responses['404'] === undefined) expect(status, `${method} ${path}`).not.to.be.oneOf([404, 405]);
    }
  });

  it('omits nothing: every other method of a path is 405, and Allow lists the described methods', async () => {
    for (const [template, operations] of Object.entries(document.paths)) {
      const described = Object.keys(operations).map((method) => method.toUpperCase());
      for (const method of METHODS.filter((one) => template !== METRICS && !described.includes(one))) {
        const { status, headers } = await api.send({ method, path: pathOf(template), headers: ANONYMOUS });
        expect(status, `${method} ${template}`).to.equal(405);
        expect(headers.allow?.toString().split(', '), template).to.have.members(described);
      }
    }
  });

  it('gives each operation a unique id of letters and digits', () => {
    const ids = read.operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).to.equal(ids.length);
    for (const id of ids) expect(id).to.match(/^[a-z]+[A-Za-z0-9]*$/);
  });

  it('declares each path parameter, once in a path', () => {
    for (const { path, parameters } of read.operations) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      expect(parameters.filter((one) => one.in === 'path').map(({ name }) => name)).to.deep.equal(inPath);
      expect(new Set(inPath).size).to.equal(inPath.length);
    }
  });

  it('contains the schemas that validate requests as components', () => {
    const put = read.operations.find(({ operationId }) => operationId === 'putCoreNamespacesByNamespaceChecksByName');
    expect(put?.body?.schema).to.deep.equal({ $ref: '#/components/schemas/core.v2.CheckConfig' });
    const { properties = {} } = document.components.schemas['core.v2.CheckConfig'] ?? {};
    expect(properties['interval']).to.include({ minimum: 0, maximum: 4_294_967_295 });
    expect(read.errorOf({ $ref: '#/components/schemas/core.v2.CheckConfig' }, { interval: -1 })).not.to.equal(
      undefined,
    );
  });

  it('describes the media type, the conditions and the responses of each PATCH', () => {
    const patches = read.operations.filter(({ method }) => method === 'PATCH');
    expect(patches).to.have.lengthOf.above(10);
    for (const { body, parameters, responses } of patches) {
      expect(body?.type).to.equal('application/merge-patch+json');
      expect(parameters.map(({ name }) => name)).to.include.members(['If-Match', 'If-None-Match']);
      expect(responses).to.include.keys('400', '401', '403', '404', '412', '413', '500', '503');
    }
  });

  it('describes If-None-Match for each operation that can answer 304 or is a PATCH', () => {
    for (const { parameters, responses, method } of read.operations) {
      const takesTag = parameters.some(({ name }) => name === 'If-None-Match');
      expect(takesTag).to.equal(responses['304'] !== undefined || method === 'PATCH');
    }
  });

  it('is 304 for a client that already has it', async () => {
    const { headers } = await api.get('/openapi.json');
    const tag = String(headers['etag']);
    const again = await api.send({ path: '/openapi.json', headers: { 'if-none-match': tag } });
    expect([again.status, again.text, again.headers['etag']]).to.deep.equal([304, '', tag]);
    expect((await api.send({ path: '/openapi.json', headers: { 'if-none-match': '"other"' } })).status).to.equal(200);
  });

  it('is generated once', async () => {
    let made = 0;
    const [route] = docsRoutes({
      document: () => {
        made += 1;
        return describeApi(api.api.routes, '1.2.3');
      },
    });
    const answers = [await route?.handle(REQUEST), await route?.handle(REQUEST)];
    expect(made).to.equal(1);
    expect(answers[1]).to.deep.equal(answers[0]);
  });
});

const REQUEST = {
  params: {},
  query: new URLSearchParams(),
  caller: { username: '', groups: [] },
  body: {},
  authorization: undefined,
  isDisconnected: () => false,
  tagOf: () => '',
  conditions: { ifMatch: undefined, ifNoneMatch: undefined },
  remoteAddress: '127.0.0.1',
  protocol: 'http',
  host: 'localhost',
};

describe('the documentation page', () => {
  const api = perSuite(() => ApiUnderTest.start());

  const get = (path: string) => api.send({ path, headers: ANONYMOUS });

  /** Returns the paths that a browser fetches for the page, in order. */
  async function fetched(): Promise<string[]> {
    const { text } = await get('/docs');
    return [...text.matchAll(/<(?:script|link rel="stylesheet")[^>]* (?:src|href)="([^"]+)"/g)].map(
      ([, path = '']) => path,
    );
  }

  it('loads its style and scripts from this host and needs no credentials', async () => {
    const page = await get('/docs');
    expect([page.status, page.headers['content-type']]).to.deep.equal([200, 'text/html; charset=utf-8']);
    const paths = await fetched();
    expect(paths).to.deep.equal(['/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js', '/docs/start.js']);
    const types = ['text/css; charset=utf-8', 'text/javascript; charset=utf-8', 'text/javascript; charset=utf-8'];
    for (const [index, path] of paths.entries()) {
      const { status, headers, text } = await get(path);
      expect([status, headers['content-type']], path).to.deep.equal([200, types[index]]);
      expect(text, path).not.to.equal('');
    }
  });

  it('is the page to which the root of the port redirects, without credentials', async () => {
    const { status, headers, text } = await get('/');
    expect({ status, location: headers['location'] }).to.deep.equal({ status: 302, location: '/docs' });
    expect(text).to.equal('This is the REST API, described at /docs. Agents connect to the agent port.\n');
  });

  it('is 304 for a browser that already has it, with a tag for each file', async () => {
    const tags = new Set<string>();
    for (const path of ['/docs', ...(await fetched())]) {
      const tag = String((await get(path)).headers['etag']);
      const again = await api.send({ path, headers: { ...ANONYMOUS, 'if-none-match': tag } });
      expect([again.status, again.text, again.headers['etag']], path).to.deep.equal([304, '', tag]);
      const other = await api.send({ path, headers: { ...ANONYMOUS, 'if-none-match': '"other"' } });
      expect(other.status, path).to.equal(200);
      tags.add(tag);
    }
    expect(tags.size).to.equal(4);
  });

  it('is read from disk once, however often it is requested', async () => {
    for (const route of docsRoutes({ document: () => ({}) }).filter(({ path }) => path !== '/')) {
      const [first, second] = [await route.handle(REQUEST), await route.handle(REQUEST)];
      expect(first.body, route.path).to.be.instanceOf(Buffer).and.to.equal(second.body);
    }
  });

  it('names no other host and requests the document from this one', async () => {
    const [page, start] = [await get('/docs'), await get('/docs/start.js')];
    for (const { text } of [page, start]) expect(text).not.to.match(/https?:|\/\/\w/);
    expect(start.text).to.include("url: '/openapi.json'").and.to.include('validatorUrl: null');
  });

  it('may run only its own script files and connect to no other host', async () => {
    for (const path of ['/docs', ...(await fetched())]) {
      const { headers } = await get(path);
      const policy = new Map(
        String(headers['content-security-policy'])
          .split('; ')
          .map((rule) => [rule.split(' ')[0], rule.split(' ').slice(1).join(' ')] as const),
      );
      expect(policy.get('default-src'), path).to.equal("'none'");
      expect(policy.get('script-src'), path).to.equal("'self'");
      expect(policy.get('style-src'), path).to.equal("'self'");
      expect(policy.get('connect-src'), path).to.equal("'self'");
      expect(policy.get('img-src'), path).to.equal("'self' data:");
      expect(headers['x-content-type-options'], path).to.equal('nosniff');
    }
    expect((await get('/docs')).text).not.to.match(/<script(?![^>]* src=)|style=|<style| on\w+=/);
  });
});

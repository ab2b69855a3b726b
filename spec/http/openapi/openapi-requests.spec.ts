import { expect } from 'chai';
import fc from 'fast-check';
import { basicHeader } from '../../../src/wire/handshake.ts';
import { AGENT, HandshakeRefused } from '../../support/agent-client.ts';
import { ADMIN, type ApiAnswer, ApiClient, type ApiRequest } from '../../support/api-client.ts';
import { keepalive, proxyEvent } from '../../support/example-events.ts';
import { exampleResources } from '../../support/example-resources.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';
import { type OpenApiDocument, type Operation, ReadDocument } from './openapi-document.ts';
import { breakingRequestsOf, requestsOf } from './openapi-requests.ts';

const RUNS = 3;
/** This operation deletes the events of an entity even when the entity itself does not exist. Source: spec/02 6, rule 3. */
const ENTITY_DELETION = 'deleteCoreNamespacesByNamespaceEntitiesByName';

describe('a request generated from the OpenAPI document', () => {
  const backend = perSuite(() => InProcessBackend.start({ configure: (config) => ({ ...config, storeSync: 'none' }) }));
  const api = perSuite(
    () => new ApiClient(backend.apiPort),
    (made) => made.close(),
  );
  let document: ReadDocument;
  /** The same document, with schemas that reject members that it does not describe. */
  let exact: ReadDocument;
  let admin: string;

  before(async () => {
    const login = await api.request({ method: 'GET', path: '/auth', headers: { authorization: basicHeader(ADMIN) } });
    admin = `Bearer ${String(at(login.json, 'access_token'))}`;
    document = new ReadDocument((await api.get('/openapi.json')).json as OpenApiDocument);
    exact = document.exact();
    await createOneOfEach();
  });

  const asAdmin = (request: ApiRequest): Promise<ApiAnswer> =>
    api.request({ ...request, headers: { ...request.headers, authorization: admin } });

  /** Creates one of everything: an agent, a refused handshake, each resource, and an event with a notification. */
  async function createOneOfEach(): Promise<void> {
    const agent = await backend.connect({ name: 'b' });
    agent.send('keepalive', keepalive('b'));
    await agent.ping('decided');
    try {
      await backend.connect({ name: 'b', credentials: { ...AGENT, password: 'wrong' } });
    } catch (error) {
      if (!(error instanceof HandshakeRefused)) throw error;
    }
    const made: ApiRequest[] = exampleResources('default').map(({ home, body }) => {
      return { method: 'POST', path: home, body: body('a') };
    });
    const event = proxyEvent('a', 'a', { status: 1, handlers: ['nobody'] });
    made.push({ method: 'PUT', path: '/ns/default/events/a/a', body: event });
    for (const request of made) expect((await asAdmin(request)).status, request.path).to.be.lessThan(300);
  }

  /** Returns the answer, and whether something was written meanwhile, by the request or by the backend itself. */
  async function observed(send: () => Promise<ApiAnswer>): Promise<{ answer: ApiAnswer; hasWritten: boolean }> {
    await backend.store.settled();
    const { writes } = backend.store;
    const head = backend.store.ledgerHead();
    const answer = await send();
    await backend.store.settled();
    return { answer, hasWritten: backend.store.writes !== writes || backend.store.ledgerHead().seq !== head.seq };
  }

  /** Returns the answer. Asserts that the document describes it and that an error answer has changed nothing. */
  async function answered(operation: Operation, send: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
    const { answer, hasWritten } = await observed(send);
    assertDescribed(operation, answer);
    const isOfEvents = operation.operationId === ENTITY_DELETION && answer.status === 404;
    // What the backend writes by itself does not recur with the request.
    if (answer.status >= 400 && !isOfEvents && hasWritten) {
      expect((await observed(send)).hasWritten, 'the rejected request has written').to.equal(false);
    }
    return answer;
  }

  function assertDescribed(operation: Operation, { status, headers, text, json }: ApiAnswer): void {
    expect(text).not.to.match(/^(\{"message":")?internal error/);
    const described = exact.response(operation, status);
    expect(described, `status ${status} ${text}`).not.to.equal(undefined);
    const [content] = Object.entries(described?.content ?? {});
    if (content === undefined) {
      expect(text).to.equal('');
      return;
    }
    const [type, { schema }] = content;
    expect(headers['content-type']?.split(';')[0]).to.equal(type);
    expect(exact.errorOf(schema, type === 'application/json' ? json : text), text.slice(0, 500)).to.equal(undefined);
  }

  async function forEach(operations: Operation[], law: (operation: Operation) => Promise<void>): Promise<void> {
    for (const operation of operations) {
      try {
        await law(operation);
      } catch (cause) {
        throw new Error(`${operation.operationId}: ${String(cause)}`, { cause });
      }
    }
    expect(backend.log.errors).to.deep.equal([]);
  }

  it('is answered as the document describes, and writes nothing when it is rejected', () =>
    forEach(document.operations, (operation) =>
      fc.assert(
        fc.asyncProperty(requestsOf(document, operation), async (request) => {
          await answered(operation, () => asAdmin(request));
        }),
        { numRuns: RUNS },
      ),
    ));

  it('is rejected when its body does not match the schema', () =>
    forEach(
      document.operations.filter(({ body }) => body !== undefined),
      (operation) =>
        fc.assert(
          fc.asyncProperty(breakingRequestsOf(document, operation), async (request) => {
            const { status } = await answered(operation, () => asAdmin(request));
            expect(status).to.be.greaterThanOrEqual(400);
          }),
          { numRuns: RUNS },
        ),
    ));

  it('is 401 without credentials, unless its operation needs none, and changes nothing', () =>
    forEach(document.operations, (operation) =>
      fc.assert(
        fc.asyncProperty(requestsOf(document, operation), async (request) => {
          const { status } = await answered(operation, () => api.request(request));
          if (operation.security.length > 0) expect(status).to.equal(401);
        }),
        { numRuns: 2 },
      ),
    ));

  it('leaves the administrator unchanged', async () => {
    expect(await asAdmin({ method: 'GET', path: '/api/core/v2/users' })).to.have.property('status', 200);
  });
});

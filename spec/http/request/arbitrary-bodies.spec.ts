import { expect } from 'chai';
import fc from 'fast-check';
import { ADMIN_PASSWORD, ApiUnderTest } from '../api-under-test.ts';
import { perSuite } from '../../support/fixture.ts';

const DEFAULT = '/api/core/v2/namespaces/default';

/** A body that each route accepts. Each case replaces one member of it by a value of a wrong type. */
const VALID = {
  event: {
    timestamp: 1,
    entity: {
      entity_class: 'proxy',
      subscriptions: ['a'],
      system: { network: { interfaces: [{ addresses: ['x'] }] }, arm_version: 1 },
      metadata: { name: 'e', namespace: 'default', labels: { a: 'b' } },
    },
    check: {
      interval: 1,
      status: 0,
      handlers: ['h'],
      history: [{ status: 0, executed: 1 }],
      metadata: { name: 'c', namespace: 'default' },
    },
    metrics: { handlers: ['h'], points: [{ name: 'p', value: 1, tags: [{ name: 'n', value: 'v' }] }] },
  },
  entity: { entity_class: 'proxy', metadata: { name: 'p', namespace: 'default' }, deregistration: { handler: 'h' } },
  check: { command: 'x', interval: 1, stdin: true, metadata: { name: 'c', namespace: 'default' }, env_vars: ['A=B'] },
  namespace: { name: 'n' },
  handler: {
    type: 'tcp',
    command: 'x',
    timeout: 1,
    socket: { host: 'h', port: 1 },
    handlers: ['h'],
    filters: ['f'],
    secrets: [{ name: 'n', secret: 's' }],
    metadata: { name: 'h', namespace: 'default', annotations: { a: 'b' } },
  },
  execution: { check: 'c', subscriptions: ['a'], creator: 'x', reason: 'y' },
  user: { username: 'u', password: 'p'.repeat(8), groups: ['g'], disabled: true },
  password: {
    password: ADMIN_PASSWORD,
    password_hash: '$2a$10$XOPbrlUPQdwdJUpSrIF6X.LbE14qsMmKGhM1A8W9iqDuy0Bp1P6hu',
  },
};

const ROUTES: [string, string, object][] = [
  ['POST', `${DEFAULT}/events`, VALID.event],
  ['PUT', `${DEFAULT}/events/e/c`, VALID.event],
  ['POST', `${DEFAULT}/events/e/c`, VALID.event],
  ['POST', `${DEFAULT}/entities`, VALID.entity],
  ['PUT', `${DEFAULT}/entities/p`, VALID.entity],
  ['POST', `${DEFAULT}/checks`, VALID.check],
  ['PUT', `${DEFAULT}/checks/c`, VALID.check],
  ['POST', '/api/core/v2/namespaces', VALID.namespace],
  ['PUT', '/api/core/v2/namespaces/n', VALID.namespace],
  ['POST', `${DEFAULT}/handlers`, VALID.handler],
  ['PUT', `${DEFAULT}/handlers/h`, VALID.handler],
  ['POST', `${DEFAULT}/checks/c/execute`, VALID.execution],
  ['POST', '/api/core/v2/users', VALID.user],
  ['PUT', '/api/core/v2/users/u', VALID.user],
  ['PUT', '/api/core/v2/users/admin/password', VALID.password],
  ['PUT', '/api/core/v2/users/admin/reset_password', VALID.password],
];

/** Returns the path of every member of `value`, at any depth. */
function membersOf(value: unknown, path: string[] = []): string[][] {
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, member]) => [[...path, name], ...membersOf(member, [...path, name])]);
}

function replaced(value: unknown, [name, ...rest]: string[], by: unknown): unknown {
  if (name === undefined) return by;
  const copy = structuredClone(value) as Record<string, unknown>;
  copy[name] = replaced(copy[name], rest, by);
  return copy;
}

const kindOf = (value: unknown): string => (Array.isArray(value) ? 'list' : typeof value);

describe('a request body of the wrong shape', () => {
  const api = perSuite(() => ApiUnderTest.start());

  for (const [method, path, valid] of ROUTES) {
    it(`is 400 and reaches no command: ${method} ${path}`, async () => {
      expect((await api.send({ method, path, body: valid })).status).to.be.lessThan(300);
      const calls = api.calls.length;
      const wrong = fc.oneof(
        fc.string(),
        fc.double(),
        fc.boolean(),
        fc.array(fc.jsonValue()),
        fc.dictionary(fc.string(), fc.jsonValue()),
      );
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...membersOf(valid)), wrong, async (member, value) => {
          const before = member.reduce((object: unknown, name) => (object as Record<string, unknown>)[name], valid);
          fc.pre(kindOf(before) !== kindOf(value) && JSON.stringify(value) !== 'null');
          const { status } = await api.send({ method, path, body: replaced(valid, member, value) });
          expect(status).to.equal(400);
        }),
        { numRuns: 60 },
      );
      expect(api.calls).to.have.lengthOf(calls);
    });

    it(`never causes a server error: ${method} ${path}`, async () => {
      const bytes = fc.uint8Array().map((array) => Buffer.from(array).toString('latin1'));
      await fc.assert(
        fc.asyncProperty(fc.oneof(fc.json(), fc.string(), bytes), async (text) => {
          const { status } = await api.send({ method, path, text });
          expect(status).to.be.lessThan(500);
        }),
        { numRuns: 60 },
      );
    });
  }
});

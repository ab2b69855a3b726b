import { hashSync } from '@node-rs/bcrypt';
import { expect } from 'chai';
import type { Access } from '../../../src/http/request/route.ts';
import type { Rule } from '../../../src/resources/role.ts';
import type { Verb } from '../../../src/rules/rbac.ts';
import { basicHeader } from '../../../src/wire/handshake.ts';
import type { ApiAnswer } from '../../support/api-client.ts';
import { proxyEvent } from '../../support/example-events.ts';
import { exampleResources } from '../../support/example-resources.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';
import { parametersOf, pathWith, type ApiRoute, routeTable, titleOf } from '../../support/route-table.ts';

/** Routes without authentication; a new one has to be listed here. */
const OPEN = [
  'GET /auth',
  'GET /auth/test',
  'GET /',
  'GET /docs',
  'GET /docs/start.js',
  'GET /docs/swagger-ui-bundle.js',
  'GET /docs/swagger-ui.css',
  'GET /health',
  'GET /openapi.json',
  'GET /ready',
  'GET /version',
  // Posted data is answered and not stored.
  'POST /api/core/v2/tessen/metrics',
  'POST /auth/logout',
  'POST /auth/token',
  // Without a dashboard there is no query.
  'POST /graphql',
];
/** Routes for all logged-in users, with answers limited by their rights. */
const AUTHENTICATED = [
  'GET /api/core/v2/namespaces',
  'GET /api/core/v2/namespaces/:name',
  'GET /api/mon/v1/backend',
  'GET /api/mon/v1/machines',
  'GET /api/mon/v1/machines/:id',
  'GET /api/mon/v1/namespace-summaries',
  'POST /api/mon/v1/namespaces/:namespace/pipeline/dry-run',
  'POST /api/mon/v1/tickets',
];

const CORE = '/api/core/v2';
const PASSWORD = 'Passw0rd-1';
const PASSWORD_HASH = hashSync(PASSWORD, { cost: 4 });
const VERBS: readonly Verb[] = ['get', 'list', 'create', 'update', 'delete'];
const FORBIDDEN = { status: 403, body: { message: 'unauthorized to perform action', code: 4 } };
const SECRET = 'not-for-eve';

type Needed = Exclude<Access, string>;
type GuardedRow = ApiRoute & { access: Needed };

const isGuarded = (row: ApiRoute): row is GuardedRow => typeof row.access === 'object';
/** Rights that apply if the route belongs to a namespace. */
const isNamespaced = ({ access, path }: GuardedRow): boolean =>
  path.includes(`:${access.namespaceFrom ?? 'namespace'}`);
const answered = ({ status, json }: ApiAnswer) => ({ status, body: json });
const rule = (verbs: readonly string[], resources: readonly string[], names: string[] | null = null): Rule => ({
  verbs: [...verbs],
  resources: [...resources],
  resource_names: names,
});

describe('A11 the rights that each route requires', () => {
  let rows: readonly ApiRoute[];
  let guarded: readonly GuardedRow[];
  let words: readonly string[];
  const backend = perSuite(() => InProcessBackend.start());
  const admin = perSuite(() => backend.login());
  /** The body with which eve gets past validation. */
  let callers: Record<'token' | 'key', string>;

  before(async () => {
    rows = await routeTable();
    guarded = rows.filter(isGuarded);
    words = [...new Set([...guarded.map(({ access }) => access.resource), 'localselfuser', 'inspect'])].filter(Boolean);

    await admin.post(`${CORE}/users`, { username: 'eve', password_hash: PASSWORD_HASH });
    for (const name of ['dev', 'dev-2']) await admin.post(`${CORE}/namespaces`, { name });
    await fill('dev-2');
    const basic = basicHeader({ username: 'eve', password: PASSWORD });
    const { json } = await admin.request({ method: 'GET', path: '/auth', headers: { authorization: basic } });
    const { headers } = await admin.post(`${CORE}/apikeys`, { username: 'eve' });
    const key = String(headers.location).split('/').at(-1) ?? '';
    callers = { token: `Bearer ${String(at(json, 'access_token'))}`, key: `Key ${key}` };
  });

  afterEach(async () => {
    await admin.delete(`${CORE}/clusterrolebindings/eve`);
    await admin.delete('/ns/dev/rolebindings/eve');
  });

  /** One resource of every kind, named x. */
  async function fill(namespace: string): Promise<void> {
    for (const { home, body } of exampleResources(namespace)) {
      const { metadata = {}, ...rest } = body('x') as { metadata?: object };
      const labels = { labels: { note: SECRET } };
      const { status } = await admin.post(
        home,
        'metadata' in body('x') ? { ...rest, metadata: { ...metadata, ...labels } } : rest,
      );
      expect(status, home).to.be.oneOf([200, 201]);
    }
    const event = proxyEvent('x', 'x', { output: SECRET });
    const entity = { entity_class: 'proxy', metadata: { name: 'x', namespace } };
    const check = { ...(event['check'] as object), metadata: { name: 'x', namespace } };
    expect((await admin.put(`/ns/${namespace}/events/x/x`, { entity, check })).status).to.equal(200);
  }

  async function give(rules: readonly Rule[]): Promise<void> {
    const metadata = { name: 'eve' };
    const subjects = [{ type: 'User', name: 'eve' }];
    await admin.put(`${CORE}/clusterroles/eve`, { metadata, rules });
    const role_ref = { type: 'ClusterRole', name: 'eve' };
    await admin.put(`${CORE}/clusterrolebindings/eve`, { metadata, subjects, role_ref });
  }

  async function giveInDev(rules: readonly Rule[]): Promise<void> {
    const metadata = { name: 'eve', namespace: 'dev' };
    const subjects = [{ type: 'User', name: 'eve' }];
    await admin.put('/ns/dev/roles/eve', { metadata, rules });
    await admin.put('/ns/dev/rolebindings/eve', { metadata, subjects, role_ref: { type: 'Role', name: 'eve' } });
  }

  const send = (
    row: ApiRoute,
    authorization: string | undefined,
    segment: (parameter: string) => string,
  ): Promise<ApiAnswer> =>
    admin.request({
      method: row.method,
      path: pathWith(row, segment),
      // An empty one stands for no credentials: the client would otherwise send its own.
      headers: { authorization: authorization ?? '' },
      ...(row.reads === 'nothing' ? {} : { body: {} }),
    });

  /** The resources in `namespace`, with those that exist and those that do not. */
  const places = (row: GuardedRow, namespace: string): ((parameter: string) => string)[] => {
    const { namespaceFrom = 'namespace' } = row.access;
    const inPlace = (name: string) => (parameter: string) => {
      if (parameter === namespaceFrom) return namespace;
      return parameter === 'silence' ? `${name}:${name}` : name;
    };
    return [inPlace('x'), inPlace('ghost')];
  };

  it('are declared for all routes except the listed open ones', () => {
    const titlesOf = (access: Access) => rows.filter((row) => row.access === access).map(titleOf);
    expect(titlesOf('open')).to.have.members(OPEN);
    expect(titlesOf('authenticated')).to.have.members(AUTHENTICATED);
    expect(guarded).to.have.length.above(100);
  });

  it('keep out clients without credentials, which learn nothing else', async () => {
    const wrong: object[] = [];
    for (const row of rows.filter(({ access }) => access !== 'open')) {
      for (const name of ['x', 'ghost']) {
        const { status, json } = await send(row, undefined, () => name);
        if (status !== 401 || at(json, 'message') !== 'bad credentials') wrong.push([titleOf(row), name, status, json]);
      }
    }
    expect(wrong).to.deep.equal([]);
  });

  for (const verb of VERBS) {
    it(`are missing for a user with all verbs but ${verb}, whether the object exists or not`, async () => {
      const wrong: object[] = [];
      for (const resource of new Set(guarded.map(({ access }) => access.resource))) {
        const asked = guarded.filter(({ access }) => access.resource === resource && access.verb === verb);
        if (asked.length === 0) continue;
        await give([
          rule(
            VERBS,
            words.filter((word) => word !== resource),
          ),
          rule(
            VERBS.filter((word) => word !== verb),
            [resource === '' ? 'nothing' : resource],
          ),
        ]);
        for (const row of asked) {
          for (const [who, authorization] of Object.entries(callers)) {
            for (const place of places(row, 'dev-2')) {
              const answer = await send(row, authorization, place);
              const isRefused =
                isForbidden(answer) || (row.admit !== undefined && who === 'key' && answer.status === 401);
              if (!isRefused) wrong.push([who, titleOf(row), answered(answer)]);
            }
          }
        }
      }
      expect(wrong).to.deep.equal([]);
    });

    it(`are complete for a user with the verb ${verb} on routes that need only that`, async () => {
      const wrong: object[] = [];
      for (const resource of new Set(guarded.map(({ access }) => access.resource))) {
        const asked = guarded.filter(({ access }) => access.resource === resource && access.verb === verb);
        if (asked.length === 0) continue;
        await give([rule([verb], [resource === '' ? '*' : resource])]);
        for (const row of asked) {
          for (const [who, authorization] of Object.entries(callers)) {
            if (row.admit !== undefined && who === 'key') continue;
            const answer = await send(row, authorization, () => 'ghost');
            if (answer.status === 401 || answer.status === 403) wrong.push([who, titleOf(row), answered(answer)]);
          }
        }
      }
      expect(wrong).to.deep.equal([]);
    });
  }

  it('do not extend from dev to dev-2, its other neighbours, and cluster-wide routes', async () => {
    await giveInDev([rule(['*'], ['*'])]);
    const wrong: object[] = [];
    for (const row of guarded) {
      const others = isNamespaced(row)
        ? ['dev-2', 'de', 'dev.', 'DEV', '%64ev-2', 'dev%2F', 'dev%00', 'dev-2%2F..%2Fdev']
        : [''];
      for (const namespace of others) {
        for (const place of places(row, namespace)) {
          const answer = await send(row, callers.token, place);
          if (!isForbidden(answer)) wrong.push([titleOf(row), namespace, answered(answer)]);
        }
      }
    }
    expect(wrong).to.deep.equal([]);
  });

  it('are complete in dev for a user who has all rights there', async () => {
    await giveInDev([rule(['*'], ['*'])]);
    const wrong: object[] = [];
    // Its deletion would remove the rights; other tests cover it.
    for (const row of guarded.filter((each) => isNamespaced(each) && each.access.namespaceFrom === undefined)) {
      for (const namespace of ['dev', 'de%76']) {
        const [, missing] = places(row, namespace);
        const answer = await send(row, callers.token, missing ?? String);
        if (answer.status === 401 || answer.status === 403) wrong.push([titleOf(row), answered(answer)]);
      }
    }
    expect(wrong).to.deep.equal([]);
  });

  it('do not extend from one name to others, to lists and to routes without a name', async () => {
    const wrong: object[] = [];
    const named = (row: GuardedRow, name: string): string =>
      (row.access.namePrefix ?? '') + (row.access.nameFrom ?? []).map(() => name).join('/');
    await give([rule(['*'], ['*'], ['ghost', 'ghost/ghost', 'checks/ghost', 'subscriptions/ghost'])]);
    for (const row of guarded) {
      const other = await send(row, callers.token, (parameter) => (parameter === 'namespace' ? 'dev-2' : 'x'));
      if (!isForbidden(other)) wrong.push(['x', titleOf(row), answered(other)]);
      const same = await send(row, callers.token, () => 'ghost');
      const isNamed = row.access.nameFrom !== undefined && named(row, 'ghost').includes('ghost');
      if ((same.status === 403) === isNamed) wrong.push(['ghost', titleOf(row), answered(same)]);
    }
    expect(wrong).to.deep.equal([]);
  });

  it('are granted by names that include every naming parameter of a path', () => {
    // Cluster resources are under one right without names.
    const named = guarded.filter(
      ({ access: { resource, verb } }) => resource !== '' && verb !== 'list' && verb !== 'create',
    );
    const unnamed = named.filter(
      (row) => parametersOf(row).some((name) => name !== 'namespace') && row.access.nameFrom === undefined,
    );
    expect(unnamed.map(titleOf)).to.deep.equal([]);
  });
});

function isForbidden(answer: ApiAnswer): boolean {
  const { status, body } = answered(answer);
  const isTold = status === FORBIDDEN.status && JSON.stringify(body) === JSON.stringify(FORBIDDEN.body);
  return (isTold || isToldAsText(answer)) && !JSON.stringify(answer.headers).includes(SECRET);
}

const isToldAsText = ({ status, text }: ApiAnswer): boolean => status === 403 && text === `${FORBIDDEN.body.message}\n`;

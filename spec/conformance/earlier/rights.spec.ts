import { hashSync } from '@node-rs/bcrypt';
import { expect } from 'chai';
import { basicHeader } from '../../../src/wire/handshake.ts';
import type { EarlierAnswer } from '../../support/earlier-client.ts';
import { EarlierWorld } from '../../support/earlier-world.ts';
import { perTest } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';

const PASSWORD = 'ann-pass-1';
const HEADERS = { authorization: basicHeader({ username: 'ann', password: PASSWORD }) };
const SECRET = 'output-of-berlin';

const READS = [
  '/events/web-07/disk',
  '/aggregates/web',
  '/aggregates/web/clients',
  '/aggregates/web/checks',
  '/aggregates/web/results/critical',
  '/results/web-07/disk',
  '/clients/web-07',
  '/checks/disk',
  '/silenced/ids/*:disk',
  '/stashes/a/b',
];
const LISTS = ['/events', '/events/web-07', '/aggregates', '/results', '/results/web-07', '/clients', '/checks'];
const MORE_LISTS = ['/clients/web-07/history', '/silenced', '/silenced/checks/disk', '/stashes'];
const DASHBOARD_LISTS = ['/datacenters', '/subscriptions'];

/** Every change, and the right that it needs. */
const WRITES = [
  { method: 'DELETE', path: '/events/web-07/disk', resource: 'events', verbs: ['update'] },
  {
    method: 'POST',
    path: '/resolve',
    body: { client: 'web-07', check: 'disk' },
    resource: 'events',
    verbs: ['update'],
  },
  {
    method: 'POST',
    path: '/results',
    body: { name: 'disk', output: 'o', source: 'web-07' },
    resource: 'events',
    verbs: ['create', 'update'],
  },
  { method: 'DELETE', path: '/results/web-07/disk', resource: 'events', verbs: ['delete'] },
  { method: 'DELETE', path: '/aggregates/web', resource: 'events', verbs: ['delete'] },
  { method: 'DELETE', path: '/checks/disk', resource: 'events', verbs: ['delete'] },
  {
    method: 'POST',
    path: '/clients',
    body: { name: 'sw-1', address: 'x' },
    resource: 'entities',
    verbs: ['create', 'update'],
  },
  { method: 'DELETE', path: '/clients/web-07', resource: 'entities', verbs: ['delete'] },
  { method: 'POST', path: '/request', body: { check: 'disk' }, resource: 'checks', verbs: ['create'] },
  { method: 'POST', path: '/silenced', body: { check: 'http' }, resource: 'silenced', verbs: ['create', 'update'] },
  { method: 'POST', path: '/silenced/clear', body: { check: 'disk' }, resource: 'silenced', verbs: ['delete'] },
  {
    method: 'POST',
    path: '/stashes',
    body: { path: 'a/b', content: {} },
    resource: 'stashes',
    verbs: ['create', 'update'],
  },
  { method: 'DELETE', path: '/stashes/a/b', resource: 'stashes', verbs: ['delete'] },
] as const;

for (const listener of ['core', 'dashboard'] as const) {
  describe(`A11: the rights in the API of the first generation, on the listener ${listener}`, () => {
    const world = perTest(() => EarlierWorld.start());

    beforeEach(async () => {
      const ann = { username: 'ann', password_hash: hashSync(PASSWORD, { cost: 4 }), groups: ['ops'] };
      await world.admin.post('/api/core/v2/users', ann);
      await world.check('berlin', 'disk', { aggregate: 'web' });
      await world.result('berlin', 'web-07', 'disk', { status: 2, output: SECRET });
      await world.core.post('/silenced', { dc: 'berlin', check: 'disk' });
      await world.core.post('/stashes', { dc: 'berlin', path: 'a/b', content: { secret: SECRET } });
    });

    /** Gives the group of the user these rights in the namespace. */
    async function grant(rules: readonly { resources: readonly string[]; verbs: readonly string[] }[]): Promise<void> {
      const metadata = { name: 'ops', namespace: 'berlin' };
      const role = await world.admin.put('/ns/berlin/roles/ops', { metadata, rules });
      const binding = { metadata, role_ref: { type: 'Role', name: 'ops' }, subjects: [{ type: 'Group', name: 'ops' }] };
      const bound = await world.admin.put('/ns/berlin/rolebindings/ops', binding);
      expect([role.status, bound.status].every((status) => status < 300)).to.equal(true);
    }

    const ask = (method: string, path: string, body?: object): Promise<EarlierAnswer> =>
      world[listener].send({
        method,
        path,
        headers: HEADERS,
        ...(body === undefined ? {} : { body: { ...body, dc: 'berlin' } }),
      });
    const withoutRight = async (path: string): Promise<void> => {
      for (const query of ['', '?dc=berlin']) {
        const { status, text } = await ask('GET', path + query);
        expect(text, path + query)
          .to.not.contain(SECRET)
          .and.to.not.contain('berlin');
        if (status === 200) expect(text, path + query).to.equal('[]');
        else expect(status, path + query).to.equal(404);
      }
    };

    it('show nothing of a namespace to a user without rights in it', async () => {
      for (const path of [...READS, ...LISTS, ...MORE_LISTS]) await withoutRight(path);
      if (listener === 'dashboard') for (const path of DASHBOARD_LISTS) await withoutRight(path);
      expect((await ask('GET', '/settings')).status).to.equal(403);
    });

    it('show nothing of a namespace whose name begins like that of one with rights', async () => {
      await world.admin.put('/api/core/v2/namespaces/berlin-2', { name: 'berlin-2' });
      await world.result('berlin-2', 'web-07', 'disk', { status: 2, output: 'of-the-other' });
      await grant([{ resources: ['*'], verbs: ['get', 'list'] }]);
      for (const path of [...LISTS, ...MORE_LISTS]) {
        expect((await ask('GET', path)).text, path)
          .to.not.contain('of-the-other')
          .and.to.not.contain('berlin-2');
      }
      expect((await ask('GET', '/events/web-07/disk')).status).to.equal(200);
      expect((await ask('GET', '/events?dc=berlin-2')).status).to.equal(404);
    });

    it('show nothing of the events of a client to a user who may read clients only', async () => {
      const shown = async (path: string): Promise<unknown> => {
        const { json } = await ask('GET', path);
        return Array.isArray(json) ? (json as unknown[])[0] : json;
      };
      await grant([{ resources: ['entities'], verbs: ['get', 'list'] }]);
      for (const path of ['/clients', '/clients/web-07']) {
        expect(await shown(path), path)
          .to.include({ name: 'web-07' })
          .and.to.not.have.any.keys('status', 'output');
      }
      expect((await ask('GET', '/clients/web-07/history')).status).to.equal(404);
      await grant([{ resources: ['entities', 'events'], verbs: ['get', 'list'] }]);
      for (const path of ['/clients', '/clients/web-07']) {
        expect(await shown(path), path).to.include({ status: 2, output: SECRET });
      }
    });

    it('answer 404 to changes of a user without rights, and change nothing', async () => {
      for (const { method, path, ...others } of WRITES) {
        const body = 'body' in others ? others.body : undefined;
        const { status, text } = await ask(method, `${path}?dc=berlin`, body);
        expect({ status, text }, `${method} ${path}`).to.deep.equal({ status: 404, text: '' });
      }
      expect((await world.core.get('/events/web-07/disk')).status).to.equal(200);
    });

    it('answer 403 to changes of a user who may only read', async () => {
      await grant([{ resources: ['*'], verbs: ['get', 'list'] }]);
      for (const { method, path, ...others } of WRITES) {
        const body = 'body' in others ? others.body : undefined;
        const { status, text } = await ask(method, path, body);
        expect({ status, text }, `${method} ${path}`).to.deep.equal({ status: 403, text: '' });
      }
      expect(at((await world.core.get('/events/web-07/disk')).json, 'check', 'status')).to.equal(2);
    });

    for (const { method, path, resource, verbs, ...others } of WRITES) {
      it(`allow ${method} ${path} with ${verbs.join(' and ')} on ${resource}`, async () => {
        const reads = { resources: ['*'], verbs: ['get', 'list'] };
        await grant([reads, { resources: [resource], verbs }]);
        const { status } = await ask(method, path, 'body' in others ? others.body : undefined);
        expect(status).to.be.within(200, 204);
      });
    }
  });
}

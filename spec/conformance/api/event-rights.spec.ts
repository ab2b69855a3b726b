import { expect } from 'chai';
import type { Rule } from '../../../src/resources/role.ts';
import { ApiClient } from '../../support/api-client.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';

const CORE = '/api/core/v2';
const PASSWORD = 'Passw0rd-1';

describe('the right to write events of certain names', () => {
  const backend = perSuite(() => InProcessBackend.start());
  const admin = perSuite(() => backend.login());
  const users: ApiClient[] = [];
  after(() => {
    for (const user of users) user.close();
  });

  /** Grants a user these verbs on the events of these names. */
  async function userWith(username: string, ...rights: Partial<Rule>[]): Promise<ApiClient> {
    const metadata = { name: username, namespace: 'default' };
    const usual = { verbs: ['create', 'update'], resources: ['events'], resource_names: null };
    const rules = rights.map((right) => ({ ...usual, ...right }));
    const subjects = [{ type: 'User', name: username }];
    await admin.post(`${CORE}/users`, { username, password: PASSWORD });
    await admin.put(`/ns/default/roles/${username}`, { metadata, rules });
    const role_ref = { type: 'Role', name: username };
    await admin.put(`/ns/default/rolebindings/${username}`, { metadata, subjects, role_ref });
    const user = await ApiClient.login(backend.apiPort, { username, password: PASSWORD });
    users.push(user);
    return user;
  }

  const write = (user: ApiClient, method: string, entity: string, proxy: string) =>
    user.request({
      method,
      path: `/ns/default/events/${entity}/disk`,
      body: {
        entity: { metadata: { name: entity, namespace: 'default' }, entity_class: 'proxy' },
        check: { metadata: { name: 'disk', namespace: 'default' }, interval: 60, proxy_entity_name: proxy },
      },
    });

  for (const method of ['PUT', 'POST']) {
    it(`does not let ${method} write to an entity whose name is not in it, and nothing is written`, async () => {
      const name = `of-a-${method.toLowerCase()}`;
      const user = await userWith(name, { resource_names: [`${name}/disk`] });
      const other = `b-${method.toLowerCase()}`;
      const refused = await write(user, method, name, other);
      expect([refused.status, refused.json]).to.deep.equal([
        403,
        { message: 'unauthorized to perform action', code: 4 },
      ]);
      expect(await admin.event(other, 'disk')).to.equal(undefined);
      expect(await admin.entity(other)).to.equal(undefined);
      expect((await write(user, method, name, '')).status).to.equal(method === 'PUT' ? 200 : 201);
      expect((await write(user, method, name, name)).status).to.equal(method === 'PUT' ? 200 : 201);
    });
  }

  it('lets an event move to another entity if both names are in it, for whatever reason', async () => {
    const both = await userWith('both', { resource_names: ['both/disk', 'both-proxy/disk'] });
    const all = await userWith('all', {});
    for (const [user, entity] of [
      [both, 'both'],
      [all, 'all'],
    ] as const) {
      expect((await write(user, 'PUT', entity, `${entity}-proxy`)).status).to.equal(200);
      expect(await admin.event(`${entity}-proxy`, 'disk')).to.not.equal(undefined);
      expect(await admin.event(entity, 'disk')).to.equal(undefined);
    }
  });

  it('does not let one verb move an event to an entity that only another verb covers', async () => {
    const verbs = await userWith(
      'verbs',
      { verbs: ['update'], resource_names: ['verbs/disk'] },
      { verbs: ['create'], resource_names: ['verbs/disk', 'verbs-proxy/disk'] },
    );
    expect((await write(verbs, 'PUT', 'verbs', 'verbs-proxy')).status).to.equal(403);
    expect((await write(verbs, 'POST', 'verbs', 'verbs-proxy')).status).to.equal(201);
  });

  describe('used with POST', () => {
    const EVENTS = '/ns/default/events';
    const eventOf = (entity: string, output: string, proxy_entity_name = '') => ({
      entity: { metadata: { name: entity, namespace: 'default' }, entity_class: 'proxy' },
      check: { metadata: { name: 'disk', namespace: 'default' }, interval: 60, output, proxy_entity_name },
    });

    it('answers 409 if the proxy entity has such an event, which stays unchanged', async () => {
      const user = await userWith('maker', { verbs: ['create'] });
      expect((await admin.post(EVENTS, eventOf('web', 'true'))).status).to.equal(200);
      expect((await user.post(EVENTS, eventOf('elsewhere', 'forged', 'web'))).status).to.equal(409);
      expect(await admin.event('web', 'disk')).to.have.nested.property('check.output', 'true');
    });

    it('creates the first event of a proxy entity, whatever events the sending entity has', async () => {
      expect((await admin.post(EVENTS, eventOf('origin', 'own'))).status).to.equal(200);
      expect((await admin.post(EVENTS, eventOf('origin', 'of the proxy', 'fresh'))).status).to.equal(200);
      expect(await admin.event('fresh', 'disk')).to.have.nested.property('check.output', 'of the proxy');
      expect(await admin.event('origin', 'disk')).to.have.nested.property('check.output', 'own');
    });
  });
});

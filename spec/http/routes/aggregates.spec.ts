import { expect } from 'chai';
import { perTest } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { ApiUnderTest } from '../api-under-test.ts';

describe('the list of aggregates', () => {
  const backend = perTest(() => InProcessBackend.start());

  it('has the counters and the members of each', async () => {
    const admin = await backend.login();
    await admin.put('/ns/default/checks/disk', {
      metadata: { name: 'disk', namespace: 'default', annotations: { 'mon.io/aggregates': 'web' } },
      command: 'true',
      interval: 60,
      publish: false,
    });
    for (const [entity, status] of [
      ['a', 0],
      ['b', 2],
    ] as const) {
      await admin.put(`/ns/default/events/${entity}/disk`, {
        entity: { entity_class: 'proxy', metadata: { name: entity, namespace: 'default' } },
        check: { metadata: { name: 'disk', namespace: 'default' }, interval: 60, status },
      });
    }
    const listed = (await admin.get('/api/mon/v1/namespaces/default/aggregates')).json as { history?: unknown }[];
    const [web] = listed;
    expect(web?.history).to.be.an('array');
    delete web?.history;
    expect(listed).to.deep.equal([
      {
        name: 'web',
        clients: 2,
        checks: 1,
        results: { ok: 1, warning: 0, critical: 1, unknown: 0, total: 2, stale: 0 },
        members: [{ check: 'disk', entities: ['a', 'b'] }],
      },
    ]);
  });
});

describe('the health of the backend', () => {
  const api = perTest(
    () => ApiUnderTest.start(),
    (started) => started.stop(),
  );

  it('is shown to every user who is logged in, in seconds', async () => {
    const token = await api.userWith('viewer', []);
    const { body } = await api.send({ path: '/api/mon/v1/backend', headers: { authorization: `Bearer ${token}` } });
    expect(body).to.include({
      version: '0.1.0',
      started_at: 1,
      ledger_seq: 7,
      blind: 1.5,
      store_bytes: null,
      disk: null,
    });
  });
});

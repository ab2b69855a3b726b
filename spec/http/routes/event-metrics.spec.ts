import { expect } from 'chai';
import { perTest } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';

const METRICS = '/api/mon/v1/namespaces/default/events/web-1/disk/metrics';

describe('the metrics of an event', () => {
  const backend = perTest(() => InProcessBackend.start());

  it('are those of its results, with the time of their arrival', async () => {
    const admin = await backend.login();
    expect((await admin.get(METRICS)).status).to.equal(404);
    const points = [{ name: 'disk.used', value: 41.5, timestamp: 5, tags: [{ name: 'path', value: '/var' }] }];
    await admin.put('/ns/default/events/web-1/disk', {
      entity: { entity_class: 'proxy', metadata: { name: 'web-1', namespace: 'default' } },
      check: { metadata: { name: 'disk', namespace: 'default' }, interval: 60, status: 0 },
      metrics: { handlers: [], points },
    });
    const { status, json } = await admin.get(METRICS);
    expect(status).to.equal(200);
    const [series] = json as { samples: { at: number }[] }[];
    expect(json).to.deep.equal([
      { name: 'disk.used', tags: { path: '/var' }, samples: [{ at: series?.samples[0]?.at, value: 41.5 }] },
    ]);
    expect(series?.samples[0]?.at).to.be.above(5);
  });

  it('are empty for a result without metrics, and go with the event', async () => {
    const admin = await backend.login();
    await admin.put('/ns/default/events/web-1/disk', {
      entity: { entity_class: 'proxy', metadata: { name: 'web-1', namespace: 'default' } },
      check: { metadata: { name: 'disk', namespace: 'default' }, interval: 60, status: 0 },
    });
    expect((await admin.get(METRICS)).json).to.deep.equal([]);
    await admin.delete('/ns/default/events/web-1/disk');
    expect((await admin.get(METRICS)).status).to.equal(404);
  });
});

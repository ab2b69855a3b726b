import { expect } from 'chai';
import type { BackendConfig } from '../../../src/config/backend.ts';
import { ADMIN, ApiClient } from '../../support/api-client.ts';
import { checkEvent, keepalive } from '../../support/example-events.ts';
import { EarlierClient } from '../../support/earlier-client.ts';
import { perTest } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { InspectorClient, inspectUrl, ticketOf } from '../../support/inspector-client.ts';

const BROWSER = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const EVENTS = '/api/core/v2/namespaces/default/events';

describe('the listener of the dashboard', () => {
  const backend = perTest(() =>
    InProcessBackend.start({ configure: (config: BackendConfig) => ({ ...config, inspect: true }) }),
  );
  const client = perTest(
    async () => new EarlierClient(backend.dashboardPort),
    (opened) => opened.close(),
  );

  it('serves logins and the REST API', async () => {
    const admin = await ApiClient.login(backend.dashboardPort, ADMIN);
    await admin.put(`${EVENTS}/web-07/disk`, checkEvent('web-07', 'disk', { status: 1 }));
    expect((await admin.get(EVENTS)).json).to.have.lengthOf(1);
    admin.close();
  });

  it('serves the REST API with the same rights as its own listener', async () => {
    expect((await client.get(EVENTS)).status).to.equal(401);
    expect((await client.get('/auth')).status).to.equal(401);
    expect((await client.get('/api/unknown')).status).to.equal(404);
  });

  it('serves the live feed and the inspector', async () => {
    const admin = await backend.login();
    const live = { ticket: await ticketOf(admin) };
    const feed = await InspectorClient.connect(inspectUrl(backend.dashboardPort, live, '/api/mon/v1/live'));
    expect(await feed.has(1)).to.have.nested.property('[0].type', 'position');
    const agent = await backend.connected({ name: 'web-07' });
    agent.send('keepalive', keepalive('web-07'));
    const watched = { ticket: await ticketOf(admin), actors: ['entity:default/web-07'] };
    const inspector = await InspectorClient.connect(inspectUrl(backend.dashboardPort, watched));
    await inspector.has(1);
    await Promise.all([feed.leave(), inspector.leave()]);
  });

  it('serves the API of the first generation, with the statuses of its dashboard', async () => {
    const posted = { name: 'disk', output: 'full', status: 2, source: 'web-07', aggregate: 'web' };
    expect((await client.post('/results', posted)).status).to.equal(202);
    expect((await client.get('/events')).json).to.have.nested.property('[0]._id', 'default/web-07/disk');
    expect((await client.delete('/aggregates/web')).status).to.equal(202);
    expect((await client.delete('/results/web-07/disk')).status).to.equal(202);
  });

  it('sends no headers for scripts of other origins', async () => {
    expect((await client.get('/events')).headers).to.not.have.property('access-control-allow-origin');
  });

  it('answers paths that nothing serves with 404 in JSON', async () => {
    for (const path of ['/unknown', '/assets/none.js', '/apis', '/events/']) {
      const { status, headers, json } = await client.get(path, BROWSER);
      expect(status, path).to.equal(404);
      expect(headers['content-type'], path).to.equal('application/json');
      expect(json, path).to.deep.equal({ message: 'Not Found' });
    }
  });

  it('takes the path of a target that names the host', async () => {
    expect((await client.get('http://dashboard/events')).json).to.deep.equal([]);
    expect((await client.get('http://dashboard.example/events')).status).to.equal(401);
    expect((await client.get('http://dashboard.example/api/core/v2/namespaces')).status).to.equal(401);
  });

  it('ends its WebSockets when the backend stops', async () => {
    const ticket = await ticketOf(await backend.login());
    const feed = await InspectorClient.connect(inspectUrl(backend.dashboardPort, { ticket }, '/api/mon/v1/live'));
    await backend.halt();
    expect((await feed.closed()).code).to.equal(1001);
  });
});

describe('the listener of the dashboard without the API of the first generation', () => {
  const backend = perTest(() =>
    InProcessBackend.start({
      configure: ({ earlierApi, ...config }) => ({
        ...config,
        ...(earlierApi && { earlierApi: { ...earlierApi, onDashboard: false } }),
      }),
    }),
  );

  it('answers its paths with 404', async () => {
    const client = new EarlierClient(backend.dashboardPort);
    expect((await client.get('/events')).status).to.equal(404);
    client.close();
    const core = new EarlierClient(backend.earlierApiPort);
    expect((await core.get('/events')).status).to.equal(200);
    core.close();
  });
});

import { expect } from 'chai';
import type { ApiClient } from '../../support/api-client.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';

const handler = (name: string, more: object = {}): object => ({
  metadata: { name, namespace: 'dev' },
  type: 'pipe',
  command: 'cat',
  ...more,
});

describe('handlers', () => {
  const backend = perSuite(() => InProcessBackend.start());
  let api: ApiClient;

  before(async () => {
    api = await backend.login();
  });

  beforeEach(async () => {
    await api.put('/api/core/v2/namespaces/dev', { name: 'dev' });
  });

  it('are recorded in the ledger with the user and the changed members, without values', async () => {
    await api.post('/ns/dev/handlers', handler('h', { env_vars: ['A=secret-one'] }));
    await api.put('/ns/dev/handlers/h', handler('h', { env_vars: ['A=secret-two'], timeout: 3 }));
    await api.delete('/ns/dev/handlers/h');
    const entries = await api.ledger({ actor: 'handlers', key: 'dev/h' });
    expect(entries.map(({ event, cause, details }) => [event, cause, details])).to.deep.equal([
      ['resource.created', { user: 'admin' }, { changed: [] }],
      ['resource.updated', { user: 'admin' }, { changed: ['timeout', 'env_vars'] }],
      ['resource.deleted', { user: 'admin' }, { changed: [] }],
    ]);
    expect(JSON.stringify(entries)).to.not.include('secret');
  });

  it('prevent the deletion of their namespace', async () => {
    await api.put('/ns/dev/handlers/h', handler('h'));
    const refused = await api.delete('/api/core/v2/namespaces/dev');
    expect([refused.status, at(refused.json, 'message')]).to.deep.equal([
      400,
      'resource is invalid: namespace is not empty',
    ]);
    await api.delete('/ns/dev/handlers/h');
    expect((await api.delete('/api/core/v2/namespaces/dev')).status).to.equal(204);
  });

  it('may have the names of checks in their namespace', async () => {
    const check = { metadata: { name: 'h', namespace: 'dev' }, command: 'true', interval: 60 };
    expect((await api.put('/ns/dev/checks/h', check)).status).to.equal(201);
    expect((await api.post('/ns/dev/handlers', handler('h'))).status).to.equal(201);
    expect((await api.delete('/ns/dev/handlers/h')).status).to.equal(204);
    expect((await api.get('/ns/dev/checks/h')).status).to.equal(200);
    expect((await api.delete('/ns/dev/checks/h')).status).to.equal(204);
  });

  it('are created once when several requests create the same one at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => api.post('/ns/dev/handlers', handler('race'))));
    expect(answers.map(({ status }) => status)).to.have.members([201, ...Array<number>(11).fill(409)]);
    await api.delete('/ns/dev/handlers/race');
  });

  it('survive a restart', async () => {
    await api.put('/ns/dev/handlers/stays', handler('stays'));
    const before = await api.get('/ns/dev/handlers/stays');
    await backend.restart();
    api = await backend.login();
    const after = await api.get('/ns/dev/handlers/stays');
    expect([after.json, after.headers.etag]).to.deep.equal([before.json, before.headers.etag]);
  });
});

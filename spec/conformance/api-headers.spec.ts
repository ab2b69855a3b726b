import { expect } from 'chai';
import { ApiClient } from '../support/api-client.ts';
import { perSuite } from '../support/fixture.ts';
import { InProcessBackend } from '../support/in-process-backend.ts';

describe('the headers of a request', () => {
  const backend = perSuite(() => InProcessBackend.start());
  const api = perSuite(() => backend.login());

  const statusWith = async (bytes: number): Promise<number> =>
    (await api.request({ method: 'GET', path: '/ns/default/checks', headers: { 'x-long': 'x'.repeat(bytes) } })).status;

  it('may be 64 KiB long, and are 431 when they are longer', async () => {
    expect(await statusWith(60 * 1024)).to.equal(200);
    expect(await statusWith(64 * 1024)).to.equal(431);
  });

  it('have room for the token of a user of many groups', async () => {
    const groups = Array.from({ length: 1_000 }, (_, index) => `group-of-many-${index}`);
    const user = { username: 'ann', password: 'Passw0rd-of-ann', groups: [...groups, 'cluster-admins'] };
    expect((await api.post('/api/core/v2/users', user)).status).to.equal(201);
    const ann = await ApiClient.login(backend.apiPort, user);
    expect((await ann.get('/ns/default/checks')).status).to.equal(200);
    ann.close();
  });
});

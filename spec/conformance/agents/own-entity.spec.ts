import { expect } from 'chai';
import { hostname } from 'node:os';
import { BackendProcess } from '../../support/backend-process.ts';
import { perSuite } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';

describe('the entity of the backend itself', () => {
  const backend = perSuite(() => BackendProcess.start());

  it('shows the system that the backend runs on', async () => {
    const entity = await (await backend.login()).entity(hostname(), 'mon-system');
    expect(at(entity, 'entity_class')).to.equal('backend');
    expect(at(entity, 'system')).to.include({
      hostname: hostname(),
      arch: process.arch === 'x64' ? 'amd64' : process.arch,
    });
  });

  it('is in a namespace with the role that lets filters read events', async () => {
    const api = await backend.login();
    for (const kind of ['roles', 'rolebindings']) {
      expect(await api.get(`/ns/mon-system/${kind}/system:pipeline`), kind).to.have.property('status', 200);
    }
  });
});

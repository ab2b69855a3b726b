import { existsSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { NotificationStore } from '../../../src/store/notification-store.ts';
import { eventually } from '../../support/eventually.ts';
import { proxyEvent } from '../../support/example-events.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const ADDRESS = { namespace: 'dev', entity: 'sw-1', check: 'port' };

describe('notifications of a deleted namespace', () => {
  after(() => writeFileSync(file('go'), ''));

  const directory = perSuite(temporaryDirectory, (made) => made.remove());
  const backend = perSuite(() => InProcessBackend.start());
  const api = perSuite(() => backend.login());

  const file = (name: string): string => `${directory.path}/${name}`;

  async function put(path: string, body: unknown): Promise<void> {
    const { status, text } = await api.put(path, body);
    expect(status, text).to.be.oneOf([200, 201]);
  }

  const handler = (name: string, command: string): Promise<void> =>
    put(`/ns/dev/handlers/${name}`, { metadata: { name, namespace: 'dev' }, type: 'pipe', command });

  const remove = async (path: string): Promise<void> => {
    const { status, text } = await api.request({ method: 'DELETE', path });
    expect(status, text).to.equal(204);
  };

  it('are dropped with a reason in the ledger, and not run in a new namespace of that name', async () => {
    await put('/api/core/v2/namespaces/dev', { name: 'dev' });
    await handler('a-waits', `: > ${file('begun')}; until [ -e ${file('go')} ]; do sleep 0.02; done`);
    await handler('b-late', `: > ${file('late')}`);
    const event = proxyEvent('sw-1', 'port', { status: 1, handlers: ['a-waits', 'b-late'] });
    const inDev = JSON.parse(JSON.stringify(event).replaceAll('"default"', '"dev"')) as unknown;
    await put('/ns/dev/events/sw-1/port', inDev);
    await eventually(() => existsSync(file('begun')), Boolean, { what: 'the first handler' });
    for (const path of ['handlers/a-waits', 'handlers/b-late', 'entities/sw-1']) await remove(`/ns/dev/${path}`);
    await remove('/api/core/v2/namespaces/dev');
    const recorded = () => new NotificationStore(backend.store).ofEvent(ADDRESS, 10);
    const [dropped] = await eventually(recorded, (all) => all.length === 1, { what: 'the record of what was dropped' });
    expect(dropped).to.include({ handler: 'b-late', outcome: 'skipped', reason: 'namespace was deleted' });

    await put('/api/core/v2/namespaces/dev', { name: 'dev' });
    await handler('b-late', `: > ${file('late')}`);
    writeFileSync(file('go'), '');
    const both = await eventually(recorded, (all) => all.length === 2, { what: 'the end of what ran' });
    expect(both.map(({ handler: name, outcome }) => [name, outcome])).to.deep.equal([
      ['b-late', 'skipped'],
      ['a-waits', 'handled'],
    ]);
    expect([...backend.store.keys('outbox', { from: '', to: '~' })]).to.deep.equal([]);
    expect(existsSync(file('late'))).to.equal(false);
  });
});

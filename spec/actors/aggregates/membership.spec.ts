import { expect } from 'chai';
import { NotFound, StoreUnavailable } from '../../../src/resources/errors.ts';
import { resultsOf } from '../../../src/store/aggregate-results.ts';
import { eventually } from '../../support/eventually.ts';
import { perTest } from '../../support/fixture.ts';
import { readLedger } from '../../support/read-ledger.ts';
import { StoredSystem } from '../../support/stored-system.ts';

describe('the members of an aggregate', () => {
  const running = perTest(() => StoredSystem.start());

  const clients = (name: string) => running.system.aggregates.clients('default', name);
  const results = (name: string) => running.system.aggregates.summary('default', name)?.results;

  it('are the results of checks that name it', async () => {
    await running.check('disk', { aggregate: 'web' });
    await running.result('web-1', 'disk', { status: 2 });
    await running.result('web-2', 'disk');
    await running.result('web-1', 'http', { aggregates: ['web', 'edge'] });
    await running.result('web-3', 'other');
    expect(clients('web')).to.deep.equal([
      { name: 'web-1', checks: ['disk', 'http'] },
      { name: 'web-2', checks: ['disk'] },
    ]);
    expect(results('web')).to.include({ ok: 2, critical: 1, total: 3 });
    expect(clients('edge')).to.deep.equal([{ name: 'web-1', checks: ['http'] }]);
  });

  it('are the same after a restart, without those that were removed', async () => {
    for (const entity of ['web-1', 'web-2']) await running.result(entity, 'disk', { aggregate: 'web', status: 1 });
    await running.result('web-1', 'http', { aggregates: ['gone', 'web'] });
    await running.system.commands.deleteAggregate('default', 'gone', 'admin');
    const before = running.system.aggregates.summary('default', 'web');
    await running.restart();
    expect(running.system.aggregates.summary('default', 'web')).to.deep.equal(before);
    expect(running.system.aggregates.names('default')).to.deep.equal(['web']);
  });

  it('stay when the check is deleted, until the next result of the check', async () => {
    await running.check('disk', { aggregate: 'web' });
    await running.result('web-1', 'disk');
    await running.system.commands.deleteResource('checks', 'default', 'disk', 'admin');
    expect(clients('web')).to.have.length(1);
    await running.result('web-1', 'disk');
    expect(clients('web')).to.equal(undefined);
  });

  it('leave with their event, and with their entity', async () => {
    for (const entity of ['web-1', 'web-2']) await running.result(entity, 'disk', { aggregate: 'web' });
    await running.system.commands.deleteEvent({ namespace: 'default', entity: 'web-1', check: 'disk' }, 'admin');
    expect(clients('web')).to.deep.equal([{ name: 'web-2', checks: ['disk'] }]);
    await running.system.commands.deleteEntity('default', 'web-2', 'admin');
    expect(clients('web')).to.equal(undefined);
  });

  it('leave at once with an entity that has more events than one decision deletes, and come back with new results', async () => {
    for (let n = 0; n < 60; n += 1) await running.result('web-1', `check-${n}`, { aggregate: 'web' });
    await running.result('web-2', 'disk', { aggregate: 'web' });
    await running.system.commands.deleteEntity('default', 'web-1', 'admin');
    expect(clients('web')).to.deep.equal([{ name: 'web-2', checks: ['disk'] }]);
    await running.result('web-1', 'check-59', { aggregate: 'web', status: 1 });
    await eventually(
      async () => {
        await running.clock.advance(10);
        return [...running.store.keys('deletions', { from: '', to: '~' })].length;
      },
      (pending) => pending === 0,
      { what: 'the end of the deletion' },
    );
    expect(results('web')).to.include({ ok: 1, warning: 1, total: 2 });
  });

  it('are not changed by a result that was not stored', async () => {
    await running.result('web-1', 'disk', { aggregate: 'web' });
    running.store.failNextWrites(1);
    const lost = await running.result('web-2', 'disk', { aggregate: 'web' }).catch((error: unknown) => error);
    expect(lost).to.be.instanceOf(StoreUnavailable);
    expect(clients('web')).to.deep.equal([{ name: 'web-1', checks: ['disk'] }]);
  });

  it('are removed with the aggregate, and their events stay', async () => {
    for (let n = 0; n < 120; n += 1) await running.result(`web-${n}`, 'disk', { aggregate: 'web', status: 2 });
    await running.system.commands.deleteAggregate('default', 'web', 'admin');
    expect(running.system.aggregates.names('default')).to.deep.equal([]);
    expect(running.events.get('default', 'web-7', 'disk')?.check).to.include({ status: 2, occurrences: 1 });
    const entries = readLedger(running.store, { actor: 'aggregate' });
    expect(entries.map(({ key, event, cause, details }) => ({ key, event, cause, details }))).to.deep.equal([
      { key: 'default/web', event: 'aggregate.deleted', cause: { user: 'admin' }, details: { members: 120 } },
    ]);
    await running.result('web-7', 'disk', { aggregate: 'web' });
    expect(results('web')).to.include({ ok: 1, total: 1 });
  });

  it('cannot be removed from an aggregate that does not exist', async () => {
    const answer = await running.system.commands
      .deleteAggregate('default', 'none', 'admin')
      .catch((error: unknown) => error);
    expect(answer).to.be.instanceOf(NotFound);
  });

  it('stay with the alert of a check TTL and with a requested resolution, which repeat the attributes of the event', async () => {
    await running.result('web-1', 'disk', { aggregate: 'web', handle: false, ttl: 90 });
    await running.restart();
    await running.clock.advance(91_000);
    expect(results('web')).to.include({ warning: 1, total: 1 });
    expect(running.events.get('default', 'web-1', 'disk')?.check).to.include({ aggregate: 'web', handle: false });
    await running.system.commands.resolveEvent({ namespace: 'default', entity: 'web-1', check: 'disk' }, 'admin');
    expect(results('web')).to.include({ ok: 1, total: 1 });
  });

  it('are grouped by check and output', async () => {
    for (const [entity, check, output] of [
      ['web-1', 'http', 'timeout'],
      ['web-2', 'http', '503'],
      ['web-3', 'http', 'timeout'],
      ['web-1', 'disk', 'full'],
    ] as const) {
      await running.result(entity, check, { aggregate: 'web', status: 2, output });
    }
    const members = running.system.aggregates.members('default', 'web', 'critical') ?? [];
    expect(await resultsOf(running.events, 'default', members)).to.deep.equal([
      { check: 'disk', summary: [{ output: 'full', total: 1, clients: ['web-1'] }] },
      {
        check: 'http',
        summary: [
          { output: 'timeout', total: 2, clients: ['web-1', 'web-3'] },
          { output: '503', total: 1, clients: ['web-2'] },
        ],
      },
    ]);
  });
});

import { expect } from 'chai';
import { perTest } from '../support/fixture.ts';
import { StoredSystem } from '../support/stored-system.ts';

const DISK = ['default', 'web-1', 'disk'] as const;

describe('an incident', () => {
  const running = perTest(() => StoredSystem.start('berlin'));

  const incident = () => running.incidents.get(...DISK)?.incident;
  const send = async (status: number, changes: object = {}): Promise<void> => {
    await running.result('web-1', 'disk', { status, ...changes });
    await running.clock.advance(10_000);
  };

  it('does not exist for a passing event', async () => {
    await send(0);
    expect(incident()).to.equal(undefined);
  });

  it('keeps its id until the event passes, and the next one has another id', async () => {
    await send(0);
    const openedAtS = running.nowS;
    await send(1);
    const first = incident();
    expect(first).to.deep.include({ openedAtS, lastStateChangeS: openedAtS });
    await send(1);
    expect(incident()).to.deep.equal(first);
    const changedAtS = running.nowS;
    await send(2);
    expect(incident()).to.deep.equal({ ...first, lastStateChangeS: changedAtS });
    await send(0);
    expect(incident()).to.equal(undefined);
    await send(1);
    expect(incident()?.id).to.be.a('string').and.not.equal(first?.id);
  });

  it('lasts while the check flaps, with status 0 too', async () => {
    const thresholds = { low_flap_threshold: 5, high_flap_threshold: 20 };
    for (let n = 0; n < 20; n += 1) await send(n % 2, thresholds);
    const before = incident();
    expect(before).to.be.an('object');
    await send(0, thresholds);
    expect(running.incidents.get(...DISK)?.event.check).to.include({ state: 'flapping', status: 0 });
    await send(1, thresholds);
    expect(incident()?.id).to.equal(before?.id);
  });

  it('ends when its event is deleted, alone or with its entity', async () => {
    const address = { namespace: 'default', entity: 'web-1', check: 'disk' };
    await send(2);
    await running.system.commands.deleteEvent(address, 'admin');
    expect(running.store.get('incidents', DISK.join('/'))).to.equal(undefined);
    await send(2);
    await running.system.commands.deleteEntity('default', 'web-1', 'admin');
    expect(running.store.get('incidents', DISK.join('/'))).to.equal(undefined);
  });

  it('is stored with the result, or not at all', async () => {
    running.store.failNextWrites(1);
    await running.result('web-1', 'disk', { status: 2 }).catch(() => undefined);
    expect(running.store.get('incidents', DISK.join('/'))).to.equal(undefined);
  });

  it('is the same after a restart', async () => {
    await send(2);
    const before = incident();
    await running.restart();
    expect(incident()).to.deep.equal(before);
    await send(1);
    expect(incident()?.id).to.equal(before?.id);
  });

  it('says whether its event is the alert of a check TTL', async () => {
    await send(0, { ttl: 90 });
    await running.clock.advance(90_000);
    expect(running.incidents.get(...DISK)).to.deep.include({ isTtlExpired: true });
    await send(1, { ttl: 90 });
    expect(running.incidents.get(...DISK)).to.deep.include({ isTtlExpired: false });
  });
});

describe('the list of open events', () => {
  const running = perTest(() => StoredSystem.start('berlin'));

  const names = (scope: { namespace: string; entity?: string }, page: { offset?: number; limit?: number } = {}) =>
    [...running.incidents.list(scope, page)].map(
      ({ event: { entity, check } }) => `${entity.metadata.name}/${check.metadata.name}`,
    );

  beforeEach(async () => {
    for (const entity of ['web-1', 'web-2']) {
      for (const check of ['disk', 'http', 'load']) {
        await running.result(entity, check, { status: check === 'http' ? 0 : 2 });
      }
    }
    await running.result('web-1', 'disk', { status: 1 }, 'berlin');
  });

  const ALL = ['web-1/disk', 'web-1/load', 'web-2/disk', 'web-2/load'];

  it('has those of one namespace in order', async () => {
    expect(names({ namespace: 'default' })).to.deep.equal(ALL);
    expect(names({ namespace: 'berlin' })).to.deep.equal(['web-1/disk']);
    expect(running.incidents.count({ namespace: 'default' })).to.equal(4);
    expect(await running.incidents.countInSteps({ namespace: 'default' })).to.equal(4);
  });

  it('has those of one entity', () => {
    expect(names({ namespace: 'default', entity: 'web-2' })).to.deep.equal(['web-2/disk', 'web-2/load']);
    expect(running.incidents.count({ namespace: 'default', entity: 'web' })).to.equal(0);
  });

  it('has pages', () => {
    expect(names({ namespace: 'default' }, { offset: 1, limit: 2 })).to.deep.equal(['web-1/load', 'web-2/disk']);
    expect(names({ namespace: 'default' }, { offset: 4, limit: 2 })).to.deep.equal([]);
    expect(names({ namespace: 'default' }, { limit: 0 })).to.deep.equal([]);
  });

  it('leaves out what a pending deletion hides, also from pages and from the count', async () => {
    for (let n = 0; n < 60; n += 1) await running.result('web-1', `check-${n}`, { status: 2 });
    await running.system.commands.deleteEntity('default', 'web-1', 'admin');
    expect([...running.store.keys('deletions', { from: '', to: '~' })]).to.have.length(1);
    expect(names({ namespace: 'default' })).to.deep.equal(['web-2/disk', 'web-2/load']);
    expect(names({ namespace: 'default' }, { offset: 1, limit: 5 })).to.deep.equal(['web-2/load']);
    expect(running.incidents.count({ namespace: 'default' })).to.equal(2);
    expect(await running.incidents.countInSteps({ namespace: 'default' })).to.equal(2);
  });
});

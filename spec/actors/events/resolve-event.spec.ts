import { expect } from 'chai';
import { NotFound } from '../../../src/resources/errors.ts';
import { perTest } from '../../support/fixture.ts';
import { readLedger } from '../../support/read-ledger.ts';
import { StoredSystem } from '../../support/stored-system.ts';

const ADDRESS = { namespace: 'default', entity: 'web-1', check: 'disk' };

describe('a requested resolution', () => {
  const running = perTest(() => StoredSystem.start());

  const resolve = () => running.system.commands.resolveEvent(ADDRESS, 'ops');
  const event = () => running.events.get('default', 'web-1', 'disk');

  it('is a passing result with its own output', async () => {
    await running.result('web-1', 'disk', { status: 2, output: 'full', duration: 0.5 });
    await running.clock.advance(5_000);
    await resolve();
    const { nowS } = running;
    expect(event()?.timestamp).to.equal(nowS);
    expect(event()?.check).to.deep.include({
      status: 0,
      state: 'passing',
      output: 'Resolving on request of the API',
      issued: nowS,
      executed: nowS,
      duration: undefined,
    });
    expect(event()?.check.history?.map(({ status }) => status)).to.deep.equal([2, 0]);
    expect(running.incidents.get('default', 'web-1', 'disk')).to.equal(undefined);
  });

  it('is durable when it is answered', async () => {
    await running.result('web-1', 'disk', { status: 2 });
    await resolve();
    await running.restart();
    expect(event()?.check).to.include({ status: 0 });
  });

  it('reaches the handlers once, however often it is requested at the same time', async () => {
    await running.system.commands.putResource(
      'handlers',
      {
        metadata: { name: 'page', namespace: 'default' },
        type: 'pipe',
        command: 'true',
        filters: ['is_incident'],
      } as never,
      'admin',
    );
    await running.result('web-1', 'disk', { status: 2, handlers: ['page'] });
    const answers = await Promise.allSettled([resolve(), resolve()]);
    expect(answers.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected']);
    const entries = [...running.store.range('outbox', { from: '', to: '~' })].map(
      ({ value }) => value.event.check?.status,
    );
    expect(entries).to.deep.equal([2, 0]);
  });

  it('disarms the check TTL, which the next result arms again', async () => {
    await running.result('web-1', 'disk', { status: 2, ttl: 90 });
    await resolve();
    await running.clock.advance(600_000);
    expect(event()?.check).to.include({ status: 0, ttl: 0 });
    await running.result('web-1', 'disk', { status: 0, ttl: 90 });
    await running.clock.advance(91_000);
    expect(event()?.check).to.include({ status: 1 });
  });

  it('ends flapping, until the next change of the status', async () => {
    const thresholds = { low_flap_threshold: 5, high_flap_threshold: 20 };
    for (let n = 0; n < 22; n += 1) await running.result('web-1', 'disk', { status: n % 2, ...thresholds });
    expect(event()?.check).to.include({ state: 'flapping' });
    await resolve();
    expect(event()?.check).to.include({ state: 'passing', status: 0 });
    expect(event()?.check).to.include(thresholds);
    await running.result('web-1', 'disk', { status: 1, ...thresholds });
    expect(event()?.check).to.include({ state: 'flapping' });
  });

  it('resolves a flapping check whose last result passed', async () => {
    const thresholds = { low_flap_threshold: 5, high_flap_threshold: 20 };
    for (let n = 0; n < 23; n += 1) await running.result('web-1', 'disk', { status: n % 2, ...thresholds });
    expect(event()?.check).to.include({ state: 'flapping', status: 0 });
    await resolve();
    expect(running.incidents.get('default', 'web-1', 'disk')).to.equal(undefined);
  });

  it('has the user as its cause', async () => {
    await running.result('web-1', 'disk', { status: 2 });
    await resolve();
    const last = readLedger(running.store, { actor: 'check-state' }).at(-1);
    expect(last).to.deep.include({ key: 'default/web-1/disk', to: 'passing', cause: { user: 'ops' } });
  });

  for (const [title, status] of [
    ['that does not exist', undefined],
    ['that passes', 0],
  ] as const) {
    it(`is refused for an event ${title}`, async () => {
      if (status !== undefined) await running.result('web-1', 'disk', { status });
      expect(await resolve().catch((error: unknown) => error)).to.be.instanceOf(NotFound);
    });
  }
});

import { hostname } from 'node:os';
import { expect } from 'chai';
import { MACHINES, type Machines } from '../../../src/actors/core/machines.ts';
import { emptyPuts } from '../../../src/store/commit/decision.ts';
import type { EntityRecord } from '../../../src/store/records/records.ts';
import type { ApiClient } from '../../support/api-client.ts';
import { at } from '../../support/json-path.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';
import { failingMachines, Sabotage } from './failing-machines.ts';

const BROKEN = 'broken-01';
const BROKEN_KEY = `default/${BROKEN}`;
const MINUTE_MS = 60_000;

describe('an actor that throws', () => {
  let backend: RestartableBackend;
  let api: ApiClient;
  let neighbour: ReportingAgent;
  let sabotage: Sabotage;

  async function start(machines: Machines = failingMachines(sabotage)): Promise<void> {
    backend = await RestartableBackend.start({ machines });
    api = await backend.login();
    neighbour = await ReportingAgent.connect(backend, 'sound-01');
    await neighbour.keepalive({ interval: 2, timeout: 3_600 });
  }

  beforeEach(() => {
    sabotage = new Sabotage();
  });

  afterEach(() => backend.stop());

  const checkOf = async (entity: string, check = 'keepalive') => at(await api.event(entity, check), 'check');
  const eventsOf = async (key = BROKEN_KEY, actor = 'entity') =>
    (await api.ledger({ actor, key })).map(({ event }) => event);
  const quarantineEvent = async () => at(await api.event(hostname(), 'actor-quarantine', 'mon-system'), 'check');

  /** Asserts that keepalives and results of another entity are still stored. */
  async function expectNeighbourSound(): Promise<void> {
    const before = Number(at(await checkOf('sound-01'), 'occurrences'));
    await neighbour.keepalive({ interval: 2, timeout: 3_600 });
    await neighbour.result('disk', { output: `after ${before}` });
    expect(await checkOf('sound-01')).to.deep.include({ status: 0, occurrences: before + 1 });
    expect(await checkOf('sound-01', 'disk')).to.deep.include({ output: `after ${before}` });
    expect((await eventsOf('default/sound-01')).filter((event) => event === 'actor.failed')).to.deep.equal([]);
  }

  for (const place of ['action', 'guard'] as const) {
    it(`in ${place === 'action' ? 'an action' : 'a guard'} is recorded and woken again, and does not affect other actors`, async () => {
      await start();
      const agent = await ReportingAgent.connect(backend, BROKEN);
      await agent.keepalive({ interval: 2, timeout: 5, ttl: 8 });
      sabotage.arm(BROKEN_KEY, place, 1);
      await backend.clock.advance(5_000);
      expect(await checkOf(BROKEN)).to.deep.include({ status: 0 });
      expect(await eventsOf()).to.deep.equal(['keepalive.received', 'actor.failed']);
      const failure = (await api.ledger({ actor: 'entity', key: BROKEN_KEY })).at(-1);
      expect(failure).to.deep.include({ from: 'registered', to: 'registered' });
      expect(at(failure, 'details', 'error')).to.include('sabotage');
      await expectNeighbourSound();
      // The deadline that could not be decided is retried.
      await backend.clock.advance(1_000);
      expect(await checkOf(BROKEN)).to.deep.include({ status: 1, occurrences: 1 });
      await agent.keepalive({ interval: 2, timeout: 5, ttl: 8 });
      expect(await checkOf(BROKEN)).to.deep.include({ status: 0 });
      expect(agent.socket.isOpen).to.equal(true);
    });
  }

  it('rejects the keepalive that it received, stores nothing of it, and accepts the next one', async () => {
    await start();
    const agent = await ReportingAgent.connect(backend, BROKEN);
    await agent.keepalive();
    sabotage.arm(BROKEN_KEY, 'action', 1);
    await agent.keepalive();
    expect(await checkOf(BROKEN)).to.deep.include({ occurrences: 1 });
    await agent.keepalive();
    expect(await checkOf(BROKEN)).to.deep.include({ occurrences: 2 });
    await expectNeighbourSound();
  });

  it('keeps the blind time that its deadline counts from while it is quarantined', async () => {
    const [timeoutMs, blindMs] = [200_000, 10_000];
    await start();
    const agent = await ReportingAgent.connect(backend, BROKEN);
    await agent.keepalive({ interval: 2, timeout: timeoutMs / 1_000 });
    sabotage.arm(BROKEN_KEY, 'action', 5);
    for (let failures = 0; failures < 5; failures += 1) await agent.keepalive();
    expect(await quarantineEvent()).to.deep.include({ status: 2 });
    for (let stalls = 0; stalls < 2; stalls += 1) {
      await backend.clock.advance(5_000);
      await backend.clock.stall(blindMs);
      // The neighbour's deadline counts from the time after this stall only.
      neighbour = await ReportingAgent.connect(backend, 'sound-01');
      await neighbour.keepalive({ interval: 2, timeout: 3_600 });
    }
    await backend.clock.advance(2 * MINUTE_MS);
    api = await backend.login();
    expect(await quarantineEvent()).to.deep.include({ status: 0 });
    // The deadline counts from the end of the first stall, 15 s after the keepalive.
    await backend.clock.advance(15_000 + timeoutMs - 30_000 - 2 * MINUTE_MS - 1);
    api = await backend.login();
    expect(await checkOf(BROKEN)).to.deep.include({ status: 0 });
    await backend.clock.advance(1_000);
    expect(await checkOf(BROKEN)).to.deep.include({ status: 1, occurrences: 1 });
  });

  /** Changes the stored state of the entity to one that does not exist while the backend is stopped. */
  async function restartWithDamagedRecord(): Promise<void> {
    await start(MACHINES);
    const agent = await ReportingAgent.connect(backend, BROKEN);
    await agent.keepalive({ interval: 2, timeout: 5 });
    await backend.halt();
    await backend.withStore(async (store) => {
      const record = store.get('entities', BROKEN_KEY);
      if (record === undefined) throw new Error('the entity is not stored');
      const puts = emptyPuts();
      const damaged: EntityRecord = { ...record, actor: { ...record.actor, value: 'unheard-of' } };
      puts.entities.set(BROKEN_KEY, damaged);
      await store.write({ puts, ledger: [] });
    });
    await backend.resume();
    api = await backend.login();
  }

  it('in its restore is recorded and rebuilt at its next event', async () => {
    await restartWithDamagedRecord();
    neighbour = await ReportingAgent.connect(backend, 'sound-01');
    const again = await ReportingAgent.connect(backend, BROKEN);
    await again.keepalive({ interval: 2, timeout: 5 });
    expect(await checkOf(BROKEN)).to.deep.include({ status: 0, occurrences: 2 });
    expect(await eventsOf()).to.include('actor.failed');
    await expectNeighbourSound();
    await backend.clock.advance(5_000);
    expect(await checkOf(BROKEN)).to.deep.include({ status: 1 });
    expect((await eventsOf()).filter((event) => event === 'actor.failed')).to.have.lengthOf(1);
  });

  it('in its restore stays monitored when its agent is silent', async () => {
    await restartWithDamagedRecord();
    await backend.clock.advance(5_000);
    expect(await eventsOf()).to.include('actor.failed');
    await backend.clock.advance(999);
    expect(await checkOf(BROKEN)).to.deep.include({ status: 1, occurrences: 1 });
    expect((await eventsOf()).at(-1)).to.equal('deadline.reached');
  });

  it('is scheduled again if it is a check schedule', async () => {
    await start();
    const metadata = { name: 'check-disk', namespace: 'default' };
    const check = { metadata, command: 'true', interval: 10, subscriptions: ['entity:sound-01'], publish: true };
    expect(await api.put('/ns/default/checks/check-disk', check)).to.have.property('status', 201);
    const { socket } = neighbour;
    const requests = (): number => socket.waitingFrames.filter(({ type }) => type === 'check_request').length;
    sabotage.arm('default/check-disk', 'action', 1);
    await backend.clock.advance(10_000);
    expect(await eventsOf('default/check-disk', 'check-schedule')).to.deep.equal(['check.created', 'actor.failed']);
    const before = requests();
    await backend.clock.advance(20_000);
    await socket.ping('after two intervals');
    expect(requests() - before).to.equal(2);

    sabotage.arm('default/check-disk', 'action', 5);
    await backend.clock.advance(50_000);
    expect(at(await quarantineEvent(), 'output')).to.include('check-schedule/default/check-disk');
    await backend.clock.advance(MINUTE_MS);
    expect(await quarantineEvent()).to.deep.include({ status: 0 });
    const released = requests();
    await backend.clock.advance(20_000);
    await socket.ping('after the release');
    expect(requests() - released).to.equal(2);
  });

  describe('five times in a minute', () => {
    /** Quarantines the check TTL of `broken-01/disk` after a result with status 1 and one occurrence. */
    async function quarantineSwitch(): Promise<ReportingAgent> {
      const agent = await ReportingAgent.connect(backend, BROKEN);
      await agent.keepalive({ interval: 2, timeout: 3_600 });
      await agent.result('disk', { status: 1, ttl: 600, interval: 1, output: 'merged' });
      sabotage.arm(`${BROKEN_KEY}/disk`, 'guard', 5);
      // A result without a TTL would disarm it: only what can change its state is sent to the actor.
      for (let n = 0; n < 5; n += 1) await agent.result('disk', { status: 1, ttl: 0, interval: 1, output: 'lost' });
      return agent;
    }

    beforeEach(() => start());

    it('is quarantined, which is a critical event of the backend itself', async () => {
      await quarantineSwitch();
      expect(await quarantineEvent()).to.deep.include({ status: 2, state: 'failing' });
      expect(at(await quarantineEvent(), 'output')).to.include(`check-ttl/${BROKEN_KEY}/disk`);
      expect(await eventsOf(`${BROKEN_KEY}/disk`, 'check-ttl')).to.deep.equal([
        'result.received',
        ...Array.from({ length: 5 }, () => 'actor.failed'),
      ]);
      const entry = (await api.ledger({ actor: 'quarantine' })).at(-1);
      expect(entry).to.deep.include({ key: `check-ttl/${BROKEN_KEY}/disk`, to: 'quarantined' });
      await expectNeighbourSound();
    });

    it('has its events stored unmerged during the quarantine', async () => {
      const agent = await quarantineSwitch();
      await agent.result('disk', { status: 2, ttl: 600, interval: 1, output: 'unmerged' });
      expect(await checkOf(BROKEN, 'disk')).to.deep.include({ output: 'unmerged', status: 2, occurrences: 1 });
      expect(at(await checkOf(BROKEN, 'disk'), 'history')).to.have.lengthOf(1);
    });

    it('has its handlers skipped during the quarantine, which is recorded', async () => {
      const agent = await quarantineSwitch();
      await agent.result('disk', { status: 2, ttl: 600, interval: 1, handlers: ['mail', 'page'] });
      const { json } = await api.get(`/api/mon/v1/namespaces/default/events/${BROKEN}/disk/notifications`);
      const skipped = (json as unknown[]).map((one) => [at(one, 'handler'), at(one, 'outcome'), at(one, 'reason')]);
      const reason = 'the state machine of the check is quarantined, events are stored and not handled';
      expect(skipped).to.deep.include.members([
        ['mail', 'skipped', reason],
        ['page', 'skipped', reason],
      ]);
    });

    it('is released after a minute, and its events are merged again', async () => {
      const agent = await quarantineSwitch();
      await backend.clock.advance(MINUTE_MS - 1);
      expect(await quarantineEvent()).to.deep.include({ status: 2 });
      await backend.clock.advance(1);
      expect(await quarantineEvent()).to.deep.include({ status: 0, state: 'passing' });
      await agent.result('disk', { status: 1, ttl: 600, interval: 1 });
      expect(await checkOf(BROKEN, 'disk')).to.deep.include({ occurrences: 2 });
      const states = (await api.ledger({ actor: 'quarantine' })).map(({ from, to }) => [from, to]);
      expect(states).to.deep.equal([
        [null, 'quarantined'],
        ['quarantined', null],
      ]);
    });

    it('is released immediately by the wake command', async () => {
      const agent = await ReportingAgent.connect(backend, BROKEN);
      await agent.keepalive({ interval: 2, timeout: 30 });
      sabotage.arm(BROKEN_KEY, 'action', 5);
      for (let n = 0; n < 5; n += 1) await agent.keepalive({ interval: 2, timeout: 30 });
      expect(at(await quarantineEvent(), 'output')).to.include(`entity/${BROKEN_KEY}`);
      const answer = await api.post('/api/mon/v1/actors/entity/default%2Fbroken-01/wake', undefined);
      expect(answer).to.have.property('status', 204);
      expect(await quarantineEvent()).to.deep.include({ status: 0 });
      // The monitor counts from the stored keepalive.
      await backend.clock.advance(29_999);
      expect(await checkOf(BROKEN)).to.deep.include({ status: 0 });
      await backend.clock.advance(1);
      expect(await checkOf(BROKEN)).to.deep.include({ status: 1 });
      await expectNeighbourSound();
    });

    it('is quarantined again immediately when it throws after its release', async () => {
      const agent = await quarantineSwitch();
      await backend.clock.advance(MINUTE_MS);
      sabotage.arm(`${BROKEN_KEY}/disk`, 'guard', 1);
      await agent.result('disk', { status: 1, ttl: 0, interval: 1 });
      expect(await quarantineEvent()).to.deep.include({ status: 2 });
      await backend.clock.advance(2 * MINUTE_MS);
      expect(await quarantineEvent()).to.deep.include({ status: 0 });
    });
  });
});

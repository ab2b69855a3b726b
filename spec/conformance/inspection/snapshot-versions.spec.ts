import { expect } from 'chai';
import { MACHINES } from '../../../src/actors/core/machines.ts';
import { emptyPuts } from '../../../src/store/commit/decision.ts';
import type { ActorSnapshot, EntityRecord } from '../../../src/store/records/records.ts';
import { pathOf } from '../../machines/state-paths.ts';
import type { ApiClient } from '../../support/api-client.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

const ENTITY = 'default/web-01';
const SWITCH = `${ENTITY}/disk`;
/** What a machine of another version may have stored: nothing of it can be used. */
const OUTDATED: ActorSnapshot = { value: 'unheard-of', context: {}, version: '0' };

describe('a stored snapshot of another machine version', () => {
  let backend: RestartableBackend;
  let api: ApiClient;
  let agent: ReportingAgent;

  beforeEach(async () => {
    backend = await RestartableBackend.start();
    api = await backend.login();
    agent = await ReportingAgent.connect(backend, 'web-01');
  });

  afterEach(() => backend.stop());

  /** Restarts the backend with outdated snapshots of the entity and of the check TTL; returns what was stored before. */
  async function restartOutdated(): Promise<{ entity: ActorSnapshot | undefined; ttl: ActorSnapshot | undefined }> {
    const before = { entity: storedEntity()?.actor, ttl: storedTtl() };
    await backend.halt();
    await backend.withStore(async (store) => {
      const puts = emptyPuts();
      const entity = store.get('entities', ENTITY);
      const event = store.get('events', SWITCH);
      if (entity !== undefined) puts.entities.set(ENTITY, { ...entity, actor: OUTDATED });
      if (event?.ttl !== undefined) {
        puts.events.set(SWITCH, { state: event.state, event: event.event, ttl: OUTDATED });
      }
      await store.write({ puts, ledger: [] });
    });
    await backend.resume();
    api = await backend.login();
    return before;
  }

  const storedEntity = (): EntityRecord | undefined => backend.store.get('entities', ENTITY);
  const storedTtl = (): ActorSnapshot | undefined => backend.store.get('events', SWITCH)?.ttl;
  const transitions = async (actor: string, key: string) => (await api.ledger({ actor, key })).map(({ to }) => to);
  const statusOf = (key: string): number | undefined => backend.store.get('events', key)?.event.check.status;
  const occurrencesOf = (key: string): number | undefined => backend.store.get('events', key)?.state.occurrences;

  it('is rebuilt and stored at start, which is logged once, and is no failure', async () => {
    await agent.keepalive({ interval: 2, timeout: 30 });
    await agent.result('disk', { ttl: 60, interval: 5 });
    await restartOutdated();
    await backend.clock.advance(10);
    expect(storedEntity()?.actor.version).to.equal(MACHINES.entity.version);
    expect(storedTtl()?.version).to.equal(MACHINES['check-ttl'].version);
    const logged = backend.log.lines.filter(({ msg }) => msg.includes('another machine version'));
    expect(logged.map(({ level, fields }) => [level, fields['actor']])).to.have.deep.members([
      ['info', 'entity'],
      ['info', 'check-ttl'],
    ]);
    expect(backend.log.lines.some(({ msg }) => msg === 'actor failed')).to.equal(false);
  });

  const TIMING = { interval: 2, timeout: 5, ttl: 8 };
  for (const [state, silentMs] of [
    ['registered.monitored', 0],
    ['warning', 5_000],
    ['critical', 8_000],
  ] as const) {
    it(`keeps an entity ${state} with its next alert`, async () => {
      await agent.keepalive(TIMING);
      await backend.clock.advance(silentMs);
      expect(pathOf(storedEntity()?.actor.value ?? '')).to.equal(state);
      const states = await transitions('entity', ENTITY);
      const alerts = occurrencesOf(`${ENTITY}/keepalive`) ?? 0;
      await restartOutdated();
      await backend.clock.advance(10);
      expect(pathOf(storedEntity()?.actor.value ?? '')).to.equal(state);
      // The time of the restart is blind: the warning timeout counts from its end.
      await backend.clock.advance(5_990);
      expect(statusOf(`${ENTITY}/keepalive`)).to.be.above(0);
      if (silentMs > 0) expect(occurrencesOf(`${ENTITY}/keepalive`)).to.be.above(alerts);
      const after = await transitions('entity', ENTITY);
      expect(after.slice(0, states.length)).to.deep.equal(states);
      expect(after.slice(states.length)).to.not.include('registered');
    });
  }

  for (const [version, restart] of [
    ['another', restartOutdated],
    ['the same', () => backend.downFor(0)],
  ] as const) {
    it(`counts from the end of the first of two blind intervals with ${version} machine version`, async () => {
      await agent.keepalive({ interval: 2, timeout: 60 });
      await backend.clock.advance(1_000);
      await backend.downFor(10_000);
      await backend.clock.advance(20_000);
      await restart();
      await backend.clock.advance(39_900);
      expect(statusOf(`${ENTITY}/keepalive`)).to.equal(0);
      await backend.clock.advance(200);
      expect(statusOf(`${ENTITY}/keepalive`)).to.equal(1);
    });
  }

  it('keeps an entity unmonitored that never was monitored', async () => {
    await api.put('/ns/default/entities/web-01', {
      metadata: { name: 'web-01', namespace: 'default' },
      entity_class: 'proxy',
    });
    await restartOutdated();
    await backend.clock.advance(300_000);
    expect(pathOf(storedEntity()?.actor.value ?? '')).to.equal('registered.unmonitored');
    expect(await transitions('entity', ENTITY)).to.deep.equal(['registered']);
  });

  for (const [state, annotations] of [
    ['warning', {}],
    ['critical', { 'mon.io/ttl-status': '2' }],
  ] as const) {
    it(`keeps an expired check TTL ${state}, and its alert is repeated`, async () => {
      await agent.keepalive({ interval: 2, timeout: 600 });
      await agent.result('disk', {
        ttl: 20,
        interval: 5,
        metadata: { name: 'disk', namespace: 'default', annotations },
      });
      await backend.clock.advance(20_000);
      expect(storedTtl()?.value).to.equal(state);
      await restartOutdated();
      await backend.clock.advance(10);
      expect(storedTtl()?.value).to.equal(state);
      const occurrences = occurrencesOf(SWITCH) ?? 0;
      await backend.clock.advance(21_000);
      expect(occurrencesOf(SWITCH)).to.be.above(occurrences);
      expect((await transitions('check-ttl', SWITCH)).filter((to) => to === 'registered')).to.have.lengthOf(1);
    });
  }

  for (const [subject, key] of [
    ['keepalives', `${ENTITY}/keepalive`],
    ['results', SWITCH],
  ] as const) {
    for (const offsetMs of [0, 500]) {
      it(`repeats an alert on missing ${subject}, delayed by blind time, at its next tick only (offset ${offsetMs} ms)`, async () => {
        const isEntity = subject === 'keepalives';
        await agent.keepalive({ interval: 2, timeout: isEntity ? 30 : 3_600 });
        if (!isEntity) await agent.result('disk', { ttl: 30, interval: 5 });
        await backend.clock.advance(10_000 + offsetMs);
        await backend.downFor(20_000);
        // The first alert is due 30 s after the end of the blind time, and is repeated every 30 s.
        await backend.clock.advance(35_000);
        expect(statusOf(key)).to.equal(1);
        const occurrences = occurrencesOf(key) ?? 0;
        await restartOutdated();
        await backend.clock.advance(23_000);
        expect(occurrencesOf(key)).to.equal(occurrences);
        await backend.clock.advance(4_000);
        expect(occurrencesOf(key)).to.equal(occurrences + 1);
        await backend.clock.advance(30_000);
        expect(occurrencesOf(key)).to.equal(occurrences + 2);
      });
    }
  }

  it('gives an armed check TTL its whole time once more, and then it expires', async () => {
    await agent.keepalive({ interval: 2, timeout: 600 });
    await agent.result('disk', { ttl: 20, interval: 5 });
    await backend.clock.advance(10_000);
    await restartOutdated();
    await backend.clock.advance(19_000);
    expect(statusOf(SWITCH)).to.equal(0);
    await backend.clock.advance(1_500);
    expect(statusOf(SWITCH)).to.equal(1);
    expect(await transitions('check-ttl', SWITCH)).to.deep.equal(['registered', 'warning']);
  });

  it('ends a connection of the former process', async () => {
    const session = (await api.ledger({ actor: 'connection' })).at(-1)?.key ?? '';
    await backend.halt();
    await backend.withStore(async (store) => {
      const puts = emptyPuts();
      puts.sessions.set(session, { namespace: 'default', agentName: 'web-01', openedAtMs: 0, actor: OUTDATED });
      await store.write({ puts, ledger: [] });
    });
    await backend.resume();
    api = await backend.login();
    expect(backend.store.get('sessions', session)).to.equal(undefined);
    expect((await api.ledger({ actor: 'connection', key: session })).at(-1)).to.deep.include({
      from: 'registered',
      event: 'process.restarted',
      to: 'deregistered',
    });
  });
});

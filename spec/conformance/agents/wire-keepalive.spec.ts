import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { checkEvent, keepalive, type KeepaliveChanges } from '../../support/example-events.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';

const SENT_AT_S = 1_767_268_800;

describe('a keepalive', () => {
  const backend = perSuite(() => InProcessBackend.start());
  const api = perSuite(() => backend.login());

  const storedEvent = (entity: string, check: string) =>
    eventually(() => api.event(entity, check), Boolean, { what: `the event ${check} of ${entity}` });

  const ignored: [string, string, KeepaliveChanges][] = [
    ['case 21: with timestamp 0', 'ka-zero', { timestamp: 0 }],
    ['case 31: with a warning timeout of 3 seconds', 'ka-short', { timeout: 3 }],
    ['case 31: with a critical timeout not above the interval', 'ka-critical', { interval: 20, ttl: 20 }],
    ['case 35: of class proxy', 'ka-proxy', { entity: { entity_class: 'proxy' } }],
    ['of another name than its session', 'ka-name', { entity: { metadata: { name: 'ka-x', namespace: 'default' } } }],
  ];
  for (const [what, name, changes] of ignored) {
    it(`${what} is ignored: it creates no entity and no event, and the session continues`, async () => {
      const agent = await backend.connected({ name });
      agent.send('keepalive', keepalive(name, changes));
      agent.send('event', checkEvent(name, 'caught-up'));
      await storedEvent(name, 'caught-up');
      for (const entity of [name, 'ka-x']) {
        expect(await api.entity(entity)).to.equal(undefined);
        expect(await api.event(entity, 'keepalive')).to.equal(undefined);
      }
      expect(agent.waitingFrames).to.deep.equal([]);
      expect(await api.ledger({ actor: 'entity', key: `default/${name}` })).to.deep.equal([]);
      expect(agent.isOpen).to.equal(true);
    });
  }

  for (const timestamp of [9_000_000_000_000_000, -9_000_000_000_000_000]) {
    it(`with timestamp ${timestamp}, which exceeds every calendar, is harmless`, async () => {
      const name = `ka-calendar-${timestamp > 0 ? 'after' : 'before'}`;
      const agent = await backend.connected({ name });
      agent.send('keepalive', keepalive(name, { timestamp }));
      agent.send('keepalive', keepalive(name, { sequence: 2 }));
      const event = await storedEvent(name, 'keepalive');
      expect(at(event, 'check', 'status')).to.equal(0);
      expect(agent.isOpen).to.equal(true);
      expect(backend.log.errors).to.deep.equal([]);
    });
  }

  it('case 22: is stored as an OK event with the timing that the agent sent', async () => {
    const agent = await backend.connected({ name: 'ka-ok' });
    const timing = { timestamp: SENT_AT_S, interval: 7, timeout: 40, ttl: 90 };
    agent.send('keepalive', keepalive('ka-ok', { ...timing, entity: { last_seen: 5 } }));
    const event = await storedEvent('ka-ok', 'keepalive');
    expect(at(event, 'check')).to.deep.include({
      status: 0,
      state: 'passing',
      handlers: ['keepalive'],
      interval: 7,
      timeout: 40,
      ttl: 90,
      occurrences: 1,
      scheduler: 'etcd',
    });
    expect(at(event, 'check', 'output')).to.match(/^Keepalive last sent from ka-ok at 2026-01-01 12:00:00 /);
    expect(at(await api.entity('ka-ok'), 'last_seen')).to.equal(SENT_AT_S);
    expect(at(event, 'check', 'executed')).to.be.closeTo(backend.clock.nowMs() / 1000, 1);
    expect(at(event, 'timestamp')).to.equal(at(event, 'check', 'executed'));
  });

  it('case 23: names the handlers that its entity asks for', async () => {
    const agent = await backend.connected({ name: 'ka-handlers' });
    agent.send('keepalive', keepalive('ka-handlers', { entity: { keepalive_handlers: ['slack'] } }));
    expect(at(await storedEvent('ka-handlers', 'keepalive'), 'check', 'handlers')).to.deep.equal(['slack']);
  });

  it('registers the entity with its own subscription and notifies the session', async () => {
    const agent = await backend.connected({ name: 'ka-new' });
    agent.send('keepalive', keepalive('ka-new', { entity: { subscriptions: ['linux'] } }));
    const config = await agent.next('entity_config');
    expect(config).to.deep.include({ entity_class: 'agent', subscriptions: ['linux', 'entity:ka-new'] });
    expect(await api.entity('ka-new')).to.deep.include({ subscriptions: ['linux', 'entity:ka-new'] });
  });
});

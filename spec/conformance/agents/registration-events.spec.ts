import { expect } from 'chai';
import type { AgentClient } from '../../support/agent-client.ts';
import { eventually } from '../../support/eventually.ts';
import { checkEvent, keepalive } from '../../support/example-events.ts';
import { perSuite } from '../../support/fixture.ts';
import { HandlerSinks } from '../../support/handler-sinks.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';

const FALLBACK = 'fallback';
const WARNING_S = 5;
const LEAVES = { interval: 2, timeout: WARNING_S };
const RESOLVED = 'Resolving due to entity deregistering';

describe('the lifetime of an agent', () => {
  const backend = perSuite(() =>
    InProcessBackend.start({
      configure: (config) => ({ ...config, deregistrationHandler: FALLBACK }),
    }),
  );
  const api = perSuite(() => backend.login());
  const handlers = perSuite(
    () => new HandlerSinks(api),
    (made) => made.close(),
  );

  before(async () => {
    for (const name of ['registration', 'keepalive', 'ops', 'cmdb', FALLBACK]) await handlers.add(name);
  });

  /** All events that the handler has received: a last event of the same check marks their end. */
  async function allHandledBy(handler: string, entity: string, check: string): Promise<unknown[]> {
    const agent = await backend.connected({ name: entity });
    agent.send('event', checkEvent(entity, check, { handlers: [handler], output: 'the last' }));
    const handled = await eventually(
      () => handlers.of(handler, entity, check),
      (events) => at(events.at(-1), 'check', 'output') === 'the last',
      { what: `the last event of ${entity}/${check} at ${handler}` },
    );
    return handled.slice(0, -1);
  }

  /** Waits until everything the agent sent before is durable, with its notifications. */
  async function decided(agent: AgentClient): Promise<void> {
    await agent.ping('decided');
    await backend.clock.settle();
  }

  it('case 19: begins with its first keepalive, which creates its entity and one handled event that is not stored', async () => {
    const agent = await backend.connected({ name: 'life-19' });
    agent.send('keepalive', keepalive('life-19', { entity: { subscriptions: ['linux'] } }));
    await decided(agent);
    const subscriptions = ['linux', 'entity:life-19'];
    expect(await api.entity('life-19')).to.deep.include({ entity_class: 'agent', subscriptions });
    const events = (await api.get('/ns/default/events/life-19')).json as unknown[];
    expect(events.map((event) => at(event, 'check', 'metadata', 'name'))).to.deep.equal(['keepalive']);

    const registrations = await allHandledBy('registration', 'life-19', 'registration');
    expect(registrations).to.have.lengthOf(1);
    const check = { status: 1, interval: 1, handlers: ['registration'] };
    expect(at(registrations[0], 'check')).to.deep.include(check);
    expect(at(registrations[0], 'entity', 'subscriptions')).to.deep.equal(subscriptions);
  });

  it('case 20: begins once, for any number of keepalives and connections', async () => {
    const agent = await backend.connected({ name: 'life-20' });
    for (const sequence of [1, 2]) agent.send('keepalive', keepalive('life-20', { sequence }));
    await decided(agent);
    await agent.disconnect();
    const again = await backend.connected({ name: 'life-20' });
    again.send('keepalive', keepalive('life-20'));
    await decided(again);
    expect(await allHandledBy('keepalive', 'life-20', 'keepalive')).to.have.lengthOf(3);
    expect(await allHandledBy('registration', 'life-20', 'registration')).to.have.lengthOf(1);
    const lines = backend.log.lines.filter(
      ({ msg, fields }) => msg === 'entity registered' && fields['entity'] === 'life-20',
    );
    expect(lines.map(({ level, fields }) => [level, fields['namespace']])).to.deep.equal([['info', 'default']]);
  });

  /** An agent that asks for deregistration reports these results and falls silent until W has passed. */
  async function left(name: string, deregistration: { handler?: string }, results: Record<string, number>) {
    const agent = await backend.connected({ name });
    agent.send('keepalive', keepalive(name, { ...LEAVES, entity: { deregister: true, deregistration } }));
    for (const [check, status] of Object.entries(results)) {
      agent.send('event', checkEvent(name, check, { status, handlers: ['ops'] }));
    }
    await decided(agent);
    await agent.disconnect();
    await backend.clock.advance(WARNING_S * 1_000 - 1);
    expect(await api.entity(name)).to.not.equal(undefined);
    await backend.clock.advance(1);
    expect(await api.entity(name)).to.equal(undefined);
    expect(await api.get(`/ns/default/events/${name}`)).to.have.property('status', 404);
  }

  it('case 29: ends at W if the agent asks for it: each event is resolved once, and one event notifies its handler', async () => {
    const results = { bad: 2, good: 0 };
    await left('life-29', { handler: 'cmdb' }, results);
    for (const [check, status] of Object.entries(results)) {
      const [sent, resolved, ...others] = await allHandledBy('ops', 'life-29', check);
      expect(at(sent, 'check')).to.deep.include({ status, output: '' });
      expect(at(resolved, 'check')).to.deep.include({ status: 0, output: RESOLVED });
      const history = at(resolved, 'check', 'history') as { status: number }[];
      expect(history.map((result) => result.status)).to.deep.equal([status, 0]);
      expect(others).to.deep.equal([]);
    }
    const deregistrations = await allHandledBy('cmdb', 'life-29', 'deregistration');
    expect(deregistrations).to.have.lengthOf(1);
    expect(at(deregistrations[0], 'check')).to.deep.include({ status: 1, interval: 1, handlers: ['cmdb'] });
  });

  it('case 29: ends without an alert for missing keepalives', async () => {
    await left('life-quiet', { handler: 'cmdb' }, {});
    const [alive, resolved, ...others] = await allHandledBy('keepalive', 'life-quiet', 'keepalive');
    expect(at(alive, 'check', 'output')).to.match(/^Keepalive last sent from life-quiet at /);
    expect(at(resolved, 'check')).to.deep.include({ status: 0, output: RESOLVED });
    expect(others).to.deep.equal([]);
    const states = (await api.ledger({ actor: 'entity', key: 'default/life-quiet' })).map(({ to }) => to);
    expect(states).to.deep.equal(['registered', 'deregistered']);
  });

  it('case 30: ends with the deregistration handler of the backend if the agent names none', async () => {
    await left('life-30', {}, {});
    const deregistrations = await allHandledBy(FALLBACK, 'life-30', 'deregistration');
    expect(deregistrations).to.have.lengthOf(1);
    expect(at(deregistrations[0], 'check')).to.deep.include({ status: 1, handlers: [FALLBACK] });
  });
});

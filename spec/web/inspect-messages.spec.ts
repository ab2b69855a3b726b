import { expect } from 'chai';
import { type InspectMessage, lastTaken, NOTHING, withMessage } from '../../web/src/inspect/messages.ts';
import { committedChart } from './committed-charts.ts';

const SESSION = 'entity:default/web-01';
const DEFINITION = JSON.stringify({ id: 'entity', version: '2', states: { registered: {}, warning: {} } });

function message(type: string, fields: Partial<InspectMessage>): InspectMessage {
  return { type: `@xstate.${type}` as InspectMessage['type'], createdAt: '0', sessionId: SESSION, seq: '1', ...fields };
}

const snapshot = (value: unknown) => ({ status: 'active', value, context: { key: 'default/web-01' } });
const MONITORED = { registered: 'monitored' };

describe('what an inspector knows of an actor', () => {
  const registered = withMessage(NOTHING, message('actor', { definition: DEFINITION, snapshot: snapshot(MONITORED) }));
  const actorAfter = (...messages: InspectMessage[]) => {
    const actor = messages.reduce(withMessage, registered).actors.get(SESSION);
    if (actor === undefined) throw new Error('there is no actor');
    return actor;
  };
  const EVENT = { type: 'deadline.reached' };

  it('is its definition and its snapshot after the first message', () => {
    expect(actorAfter()).to.deep.include({ machine: 'entity', value: MONITORED, status: 'active' });
    expect(actorAfter().definition?.version).to.equal('2');
    expect(lastTaken(committedChart('entity'), actorAfter()).size).to.equal(0);
  });

  it('is the new state, and the transition between the states, after an event and a snapshot', () => {
    const actor = actorAfter(
      message('event', { event: EVENT }),
      message('snapshot', { snapshot: snapshot('warning') }),
    );
    expect(actor).to.deep.include({ value: 'warning', before: MONITORED });
    expect([...lastTaken(committedChart('entity'), actor)]).to.deep.equal([
      'entity.registered.monitored|deadline.reached|4',
    ]);
  });

  it('is a transition that stays in the state when the state is the same', () => {
    const actor = actorAfter(
      message('event', { event: { type: 'keepalive.received' } }),
      message('snapshot', { snapshot: snapshot(MONITORED) }),
    );
    expect([...lastTaken(committedChart('entity'), actor)]).to.include(
      'entity.registered.monitored|keepalive.received|0',
    );
  });

  it('is the branch of the guard that passed when the message is from the ledger', () => {
    const guards = [
      { name: 'deadlineMoved', passed: false },
      { name: 'criticalTimeoutPassed', passed: true },
    ];
    const actor = actorAfter(
      message('event', { event: { ...EVENT, guards } }),
      message('snapshot', { snapshot: snapshot('critical') }),
    );
    expect([...lastTaken(committedChart('entity'), actor)]).to.deep.equal([
      'entity.registered.monitored|deadline.reached|3',
    ]);
  });

  it('begins again when the actor is registered again', () => {
    const actor = actorAfter(
      message('event', { event: EVENT }),
      message('actor', { definition: DEFINITION, snapshot: snapshot('critical') }),
    );
    expect(actor).to.deep.include({ value: 'critical', before: undefined, lastEvent: undefined });
  });

  it('keeps the last 200 messages, newest first, and counts all', () => {
    const many = Array.from({ length: 250 }, (_, index) => message('event', { seq: String(index), event: EVENT }));
    const known = many.reduce(withMessage, NOTHING);
    expect(known.received).to.equal(250);
    expect(known.log).to.have.lengthOf(200);
    expect(known.log[0]?.seq).to.equal('249');
  });
});

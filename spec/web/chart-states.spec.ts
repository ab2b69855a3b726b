import { expect } from 'chai';
import { createActor, transition } from 'xstate';
import { entityMachine } from '../../src/machines/entity.ts';
import {
  activeStates,
  enteredBy,
  leftBy,
  livingStates,
  namesOf,
  nextFrom,
  takenBy,
} from '../../web/src/machines/chart-states.ts';
import { committedChart as chart } from './committed-charts.ts';

describe('the state of an actor in a chart', () => {
  it('is that of a snapshot, with the states around it', () => {
    expect([...activeStates(chart('entity'), { registered: 'monitored' })]).to.deep.equal([
      'entity',
      'entity.registered',
      'entity.registered.monitored',
    ]);
    expect(namesOf({ registered: 'monitored' })).to.deep.equal(['registered', 'monitored']);
  });

  it('is the top-level state alone when only that is known', () => {
    expect([...activeStates(chart('entity'), 'registered')]).to.deep.equal(['entity', 'entity.registered']);
  });

  it('is none for an actor that does not exist, and ignores a state that the chart does not have', () => {
    expect(activeStates(chart('entity'), null).size).to.equal(0);
    expect([...activeStates(chart('entity'), 'resting')]).to.deep.equal(['entity']);
  });

  it('has the ids of XState', () => {
    const actor = createActor(entityMachine, { input: { key: 'default/web-01' } });
    const ids = activeStates(chart('entity'), actor.getSnapshot().value);
    const ofXState = (actor.getSnapshot() as unknown as { _nodes: { id: string }[] })._nodes.map(({ id }) => id);
    expect([...ids].toSorted()).to.deep.equal(ofXState.toSorted());
  });

  describe('after a step of the ledger', () => {
    const warned = { from: 'registered', event: 'deadline.reached', to: 'warning' };

    it('has the inner state that the transition left, and the one that it entered', () => {
      expect([...leftBy(chart('entity'), warned)]).to.deep.equal([
        'entity',
        'entity.registered',
        'entity.registered.monitored',
      ]);
      const back = { from: 'warning', event: 'keepalive.received', to: 'registered' };
      expect([...enteredBy(chart('entity'), back)].at(-1)).to.equal('entity.registered.monitored');
    });

    it('has the initial inner state after the creation of an actor, and nothing before it', () => {
      const created = { from: null, event: 'event.received', to: 'registered' };
      expect([...enteredBy(chart('entity'), created)].at(-1)).to.equal('entity.registered.unmonitored');
      expect(leftBy(chart('entity'), created).size).to.equal(0);
    });

    it('has the final state after the end of an actor', () => {
      const deleted = { from: 'critical', event: 'entity.deleted', to: null };
      expect([...enteredBy(chart('entity'), deleted)]).to.deep.equal(['entity', 'entity.deregistered']);
    });

    it('is the top-level state alone where the chart has no such transition', () => {
      const rebuilt = { from: 'registered', event: 'actor.failed', to: 'registered' };
      expect([...enteredBy(chart('entity'), rebuilt)]).to.deep.equal(['entity', 'entity.registered']);
      expect([...leftBy(chart('entity'), rebuilt)]).to.deep.equal(['entity', 'entity.registered']);
    });
  });

  describe('and the transition that led to it', () => {
    it('is found by its states and its event', () => {
      const step = { from: 'registered', event: 'deadline.reached', to: 'warning' };
      expect([...takenBy(chart('entity'), step)]).to.deep.equal(['entity.registered.monitored|deadline.reached|4']);
    });

    it('is distinguished from its neighbours by the guard that passed', () => {
      const step = { from: 'registered', event: 'deadline.reached', to: 'deregistered' };
      expect(takenBy(chart('check-ttl'), step).size).to.equal(2);
      const guards = [
        { name: 'deadlineMoved', passed: false },
        { name: 'subjectGone', passed: false },
        { name: 'agentAlreadyAlerts', passed: true },
      ];
      expect([...takenBy(chart('check-ttl'), { ...step, guards })]).to.deep.equal([
        'check-ttl.registered|deadline.reached|2',
      ]);
    });

    it('is one from the whole machine', () => {
      const step = { from: 'critical', event: 'entity.deleted', to: null, guards: [] };
      expect([...takenBy(chart('entity'), step)]).to.deep.equal(['entity|entity.deleted|0']);
    });

    it('is one from the initial state when there was no actor before', () => {
      const guards = [
        { name: 'flaps', passed: false },
        { name: 'isOk', passed: true },
      ];
      const step = { from: null, event: 'result.received', to: 'passing', guards };
      expect([...takenBy(chart('check-state'), step)]).to.deep.equal(['check-state.absent|result.received|1']);
    });

    it('is the arrow to the initial state when the actor is created in it', () => {
      const step = { from: null, event: 'keepalive.received', to: 'registered', guards: [] };
      expect([...takenBy(chart('entity'), step)]).to.deep.equal(['entity#initial']);
      expect(chart('entity').layouts.wide.edges.map(({ id }) => id)).to.include('entity#initial');
    });

    it('is none when the machine has no such transition', () => {
      expect(takenBy(chart('entity'), { from: 'warning', event: 'actor.failed', to: 'warning' }).size).to.equal(0);
    });
  });

  it('decides what can happen next, the innermost state first', () => {
    const next = nextFrom(chart('entity'), activeStates(chart('entity'), { registered: 'monitored' }));
    expect(next.map(({ source, event }) => `${source} ${event}`)).to.deep.equal([
      'entity.registered.monitored keepalive.received',
      ...Array.from({ length: 5 }, () => 'entity.registered.monitored deadline.reached'),
      'entity.registered stop.announced',
      'entity keepalive.deleted',
      'entity entity.deleted',
    ]);
    expect(nextFrom(chart('entity'), activeStates(chart('entity'), 'deregistered'))).to.deep.equal([]);
  });

  it('can only change by the transitions that it lists', () => {
    const actor = createActor(entityMachine, { input: { key: 'default/web-01' } });
    const snapshot = actor.getSnapshot();
    const events = new Set(
      nextFrom(chart('entity'), activeStates(chart('entity'), snapshot.value)).map(({ event }) => event),
    );
    const [ignored] = transition(entityMachine, snapshot, {
      type: 'deadline.reached',
      deadlineAtMs: 1,
      elapsedMs: 1,
      graceMs: 0,
      keepaliveEventExists: true,
      deregister: false,
    });
    expect(events.has('deadline.reached')).to.equal(false);
    expect(ignored.value).to.deep.equal(snapshot.value);
  });

  it('is one of the counted states unless it is final', () => {
    expect(livingStates(chart('entity')).map(({ name }) => name)).to.deep.equal(['registered', 'warning', 'critical']);
  });
});

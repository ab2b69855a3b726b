import { expect } from 'chai';
import { setup } from 'xstate';
import { ActorFailed } from '../../../src/actors/core/actor-failed.ts';
import { type ActorFailure, FailureQueue } from '../../../src/actors/core/failure-queue.ts';
import { KeyedActors } from '../../../src/actors/core/keyed-actors.ts';
import { type Root, startRoot } from '../../../src/actors/core/root.ts';
import type { TableReader } from '../../../src/store/commit/decision.ts';
import type { ActorSnapshot } from '../../../src/store/records/records.ts';

type Place = 'action' | 'guard' | 'entry' | 'context' | 'nowhere';

interface Input {
  key: string;
  failsIn: Place;
}

type Event = { type: 'acted' } | { type: 'guarded' };

const NOTHING_STORED: TableReader = { get: () => undefined };

function fail(place: Place): never {
  throw new Error(`failed in ${place}`);
}

/** Throws where the input says. */
const fragileMachine = setup({
  types: { context: {} as Input, input: {} as Input, events: {} as Event },
  actions: {
    enter: ({ context: { failsIn } }) => {
      if (failsIn === 'entry') fail('entry');
    },
    act: ({ context: { failsIn } }) => {
      if (failsIn === 'action') fail('action');
    },
  },
  guards: { allows: ({ context: { failsIn } }) => (failsIn === 'guard' ? fail('guard') : true) },
}).createMachine({
  id: 'fragile',
  context: ({ input }) => (input.failsIn === 'context' ? fail('context') : input),
  initial: 'registered',
  states: {
    registered: {
      entry: 'enter',
      on: { acted: { actions: 'act' }, guarded: { guard: 'allows', target: 'warning' } },
    },
    warning: {},
  },
});

const CAUSE = { session: 'one' };

describe('the supervisor of a failed actor', () => {
  let failures: FailureQueue;
  let handled: ActorFailure[];
  let root: Root;
  let stored: ActorSnapshot | undefined;
  let actors: KeyedActors<Event, Input>;

  beforeEach(() => {
    handled = [];
    stored = undefined;
    failures = new FailureQueue();
    failures.handleWith((failure) => handled.push(failure));
    root = startRoot(failures);
    actors = new KeyedActors<Event, Input>({
      kind: 'entity',
      machine: fragileMachine,
      supervisor: root.supervisors.entity,
      load: () => stored,
      rebuild: () => undefined,
      rebuilt: () => undefined,
      outdated: () => undefined,
    });
  });

  afterEach(() => {
    actors.evictAll();
    root.stop();
  });

  /** The message of the one failure that was received before `act` threw to its caller. */
  function messageOf(act: () => unknown): unknown {
    expect(act).to.throw(ActorFailed, 'entity broken failed');
    failures.handleAll(CAUSE);
    expect(handled).to.have.lengthOf(1);
    expect(handled[0]).to.deep.include({ kind: 'entity', key: 'broken' });
    expect(actors.isAwake('broken')).to.equal(false);
    const [cause] = handled.splice(0).map((failure) => failure.cause);
    return cause instanceof Error ? cause.message : cause;
  }

  const sendAfterCreating = (failsIn: Place, event: Event) => () => {
    actors.send(actors.create('broken', { key: 'broken', failsIn }), 'broken', event);
  };

  it('receives the error of an action once, before the sender does', () => {
    expect(messageOf(sendAfterCreating('action', { type: 'acted' }))).to.equal('failed in action');
  });

  it('receives the error of a guard once, before the sender does', () => {
    expect(messageOf(sendAfterCreating('guard', { type: 'guarded' }))).to.contain('failed in guard');
  });

  for (const failsIn of ['entry', 'context'] as const) {
    it(`receives the error of the first step (${failsIn}) once, before its creator does`, () => {
      expect(messageOf(() => actors.create('broken', { key: 'broken', failsIn }))).to.equal(`failed in ${failsIn}`);
    });
  }

  it('receives the error of a restore once, before the caller that wakes the actor does', () => {
    stored = { value: 'unheard-of', context: { key: 'broken', failsIn: 'nowhere' }, version: '' };
    expect(messageOf(() => actors.wake(NOTHING_STORED, 'broken'))).to.contain('unheard-of');
  });

  it('receives each failure of an actor that fails again', () => {
    for (let times = 1; times <= 3; times += 1) messageOf(sendAfterCreating('action', { type: 'acted' }));
    expect(handled).to.deep.equal([]);
  });

  it('leaves the other actors running', () => {
    const neighbour = actors.create('healthy', { key: 'healthy', failsIn: 'nowhere' });
    messageOf(sendAfterCreating('action', { type: 'acted' }));
    actors.send(neighbour, 'healthy', { type: 'guarded' });
    expect(actors.stateOf('healthy')).to.equal('warning');
  });

  it('receives nothing when an actor is evicted', () => {
    actors.create('healthy', { key: 'healthy', failsIn: 'nowhere' });
    actors.evict('healthy');
    failures.handleAll(CAUSE);
    expect(handled).to.deep.equal([]);
  });
});

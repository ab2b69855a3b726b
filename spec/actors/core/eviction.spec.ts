import { expect } from 'chai';
import { FailureQueue } from '../../../src/actors/core/failure-queue.ts';
import { KeyedActors } from '../../../src/actors/core/keyed-actors.ts';
import type { ActorKinds } from '../../../src/actors/core/actor-kind.ts';
import { startRoot } from '../../../src/actors/core/root.ts';
import { Eviction } from '../../../src/actors/core/eviction.ts';
import { type TableReader } from '../../../src/store/commit/decision.ts';
import { EMPTY_TALLY, Sabotage, tallyMachine } from './tally-machine.ts';

const NOTHING_STORED: TableReader = { get: () => undefined };
const ROUNDS_UNTIL_EVICTION = 61;

describe('eviction', () => {
  let kinds: ActorKinds;
  let stop: () => void;

  beforeEach(() => {
    const root = startRoot(new FailureQueue());
    ({ stop } = root);
    const machine = tallyMachine(new Sabotage());
    const load = () => ({ value: 'registered', context: { key: '', tally: EMPTY_TALLY }, version: '' });
    const kind = (name: keyof ActorKinds) =>
      new KeyedActors<never, never>({
        kind: name,
        machine,
        supervisor: root.supervisors[name],
        load,
        rebuild: () => undefined,
        rebuilt: () => undefined,
        outdated: () => undefined,
      });
    kinds = {
      entity: kind('entity'),
      'check-ttl': kind('check-ttl'),
      connection: kind('connection'),
      'check-schedule': kind('check-schedule'),
    };
  });

  afterEach(() => {
    stop();
  });

  const wake = (name: keyof ActorKinds, ...keys: string[]) => {
    for (const key of keys) kinds[name].wake(NOTHING_STORED, key);
  };
  const many = (count: number) => Array.from({ length: count }, (_, index) => `k${index}`);

  it('evicts an actor that was not used for some rounds', () => {
    const eviction = new Eviction(kinds, 100);
    wake('entity', 'idle', 'busy');
    for (let round = 0; round < ROUNDS_UNTIL_EVICTION; round += 1) {
      expect(kinds.entity.isAwake('idle')).to.equal(true);
      eviction.beginRound();
      wake('entity', 'busy');
    }
    expect(kinds.entity.isAwake('idle')).to.equal(false);
    expect(kinds.entity.isAwake('busy')).to.equal(true);
  });

  it('does not evict schedules, which have no stored record', () => {
    const eviction = new Eviction(kinds, 1);
    wake('check-schedule', ...many(10));
    for (let round = 0; round < ROUNDS_UNTIL_EVICTION; round += 1) eviction.beginRound();
    eviction.keepBound();
    expect(kinds['check-schedule'].awake).to.equal(10);
  });

  it('keeps the number of awake actors within the bound, and keeps those used in this round', () => {
    const eviction = new Eviction(kinds, 100);
    wake('check-ttl', ...many(95));
    eviction.beginRound();
    wake('check-ttl', 'k0', 'k1');
    wake('entity', 'a', 'b', 'c');
    eviction.keepBound();
    expect(kinds['check-ttl'].awake).to.equal(95);
    wake('connection', ...many(3));
    eviction.keepBound();
    expect(kinds['check-ttl'].awake + kinds.entity.awake + kinds.connection.awake).to.equal(90);
    expect(['k0', 'k1'].every((key) => kinds['check-ttl'].isAwake(key))).to.equal(true);
    expect([kinds.entity.awake, kinds.connection.awake]).to.deep.equal([3, 3]);
  });

  it('keeps the bound even if all actors were used in this round', () => {
    const eviction = new Eviction(kinds, 10);
    wake('entity', ...many(11));
    eviction.keepBound();
    expect(kinds.entity.awake).to.equal(9);
  });
});

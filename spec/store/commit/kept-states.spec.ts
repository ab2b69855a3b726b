import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import type { CheckEvent } from '../../../src/resources/event.ts';
import { historyWith } from '../../../src/rules/check-history.ts';
import { Committer } from '../../../src/store/commit/committer.ts';
import { Decision } from '../../../src/store/commit/decision.ts';
import { LmdbStore } from '../../../src/store/lmdb/lmdb-store.ts';
import { decodedRecord } from '../../../src/store/records/encoded-event.ts';
import { proxyEvent } from '../../support/example-events.ts';
import { FailingStore } from '../../support/failing-store.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const KEYS = ['default/a/cpu', 'default/a/disk', 'default/b/cpu', 'default/b/disk'];
const STEPS = 600;

/** A record whose state and event both have the number of its step. */
function recordOf(key: string, step: number) {
  const [, entity = '', check = ''] = key.split('/');
  const state = {
    history: historyWith([0], [step]),
    occurrences: step,
    occurrencesWatermark: 1,
    state: 'passing' as const,
    lastOk: step,
    totalStateChange: 0,
    silenced: [],
  };
  const event = proxyEvent(entity, check, { executed: step }) as unknown as CheckEvent;
  const kept = { state, ttl: undefined, ran: undefined, streaks: undefined, aggregates: undefined };
  return decodedRecord({ ...kept, attributes: undefined }, event);
}

describe('the states that the committer keeps', () => {
  it('are those of the newest decisions, also after lost ones, and the index has all events', async () => {
    const random = SeededRandom.fresh();
    const directory = await temporaryDirectory();
    const lmdb = new LmdbStore({ directory: directory.path, sync: 'none' });
    const store = new FailingStore(lmdb);
    let durable = new Map<string, number>();
    let newest = new Map<string, number>();
    const committer = new Committer({
      store,
      nowMs: () => 0,
      after: (_, fire) => setImmediate(fire),
      listener: { committed: () => undefined, lost: () => (newest = new Map(durable)), recovered: () => undefined },
    });
    const read = (key: string) => {
      const record = committer.get('events', key);
      return record && [record.state.occurrences, record.event.check.executed];
    };
    const expectNewest = (step: number): void => {
      for (const key of KEYS) {
        const expected = newest.get(key);
        const message = `seed ${random.seed}, step ${step}, ${key}`;
        expect(read(key), message).to.deep.equal(expected && [expected, expected]);
      }
    };
    for (let step = 1; step <= STEPS; step += 1) {
      const decision = new Decision(committer);
      const key = KEYS[random.below(KEYS.length)] ?? '';
      if (random.oneIn(4)) decision.delete('events', key);
      else decision.put('events', key, recordOf(key, step));
      if (random.oneIn(20)) store.failNextWrites(1);
      const after = new Map(newest);
      for (const { value } of decision.puts) value === null ? after.delete(key) : after.set(key, step);
      newest = after;
      void committer.commit(decision).then(
        () => (durable = after),
        () => undefined,
      );
      expectNewest(step);
      if (random.oneIn(10)) committer.forgetIdleEvents();
      if (random.oneIn(3)) await nextTick();
      if (random.oneIn(5)) await committer.drained();
      while (committer.isFailing) await nextTick();
      expectNewest(step);
    }
    await committer.drained();
    while (committer.isFailing) await nextTick();
    for (const check of ['cpu', 'disk']) {
      const indexed = [...lmdb.eventKeysOfCheck('default', check)];
      const expected = [...newest.keys()].filter((key) => key.endsWith(check)).sort();
      expect(indexed, `seed ${random.seed}`).to.deep.equal(expected);
    }
    await lmdb.close();
    await directory.remove();
  });
});

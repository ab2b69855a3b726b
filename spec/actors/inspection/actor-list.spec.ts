import { expect } from 'chai';
import { listActors } from '../../../src/actors/inspection/actor-list.ts';
import { emptyPuts } from '../../../src/store/commit/decision.ts';
import { MemoryStore } from '../../support/memory-store.ts';

const SESSIONS = 6_000;

describe('a page of state machines', () => {
  it('ends after 5,000 records that do not belong to it, and the next page continues there', async () => {
    const store = new MemoryStore();
    const puts = emptyPuts();
    for (let n = 0; n < SESSIONS; n += 1) {
      const agentName = n === SESSIONS - 1 ? 'wanted' : 'other';
      const actor = { value: 'registered', context: {}, version: '1' };
      puts.sessions.set(String(n).padStart(4, '0'), { namespace: 'default', agentName, openedAtMs: 0, actor });
    }
    await store.write({ puts, ledger: [] });
    const filter = { machine: 'connection', entity: 'default/wanted' } as const;
    const first = listActors(store, filter, { limit: 10 });
    expect(first).to.deep.equal({ items: [], lastKey: 'connection:4999' });
    const second = listActors(store, filter, { limit: 10, from: `${first.lastKey}\0` });
    expect(second.items.map(({ session_id }) => session_id)).to.deep.equal([`connection:${SESSIONS - 1}`]);
    expect(second.lastKey).to.equal(undefined);
  });
});

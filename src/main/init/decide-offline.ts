import type { Clock } from '../../ports/clock.ts';
import { Committer } from '../../store/commit/committer.ts';
import { Decision } from '../../store/commit/decision.ts';
import { LmdbStore } from '../../store/lmdb/lmdb-store.ts';

/** Makes one durable decision in a store that no backend uses. The caller holds its lock. */
export async function decideOffline(
  directory: string,
  clock: Clock,
  decide: (decision: Decision) => void,
): Promise<void> {
  const store = new LmdbStore({ directory, sync: 'full' });
  try {
    const committer = new Committer({
      store,
      nowMs: () => clock.nowMs(),
      after: (delayMs, fire) => void clock.after(delayMs, fire),
      listener: { committed: () => undefined, lost: () => undefined, recovered: () => undefined },
    });
    const decision = new Decision(committer);
    decide(decision);
    await committer.commit(decision);
  } finally {
    await store.close();
  }
}

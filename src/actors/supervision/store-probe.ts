import { StoreUnavailable } from '../../resources/errors.ts';
import { ALIVE_KEY } from '../../store/commit/committer.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';
import { type Decider, internal } from '../core/decider.ts';

/** Writes an alive mark and reads it back. Resolves when it is durable. @throws StoreUnavailable */
export async function probeStore(
  store: Pick<TransactionalStore, 'get'>,
  decider: Pick<Decider, 'decide'>,
): Promise<void> {
  await decider.decide(internal('health.queried'), (ctx) => {
    ctx.put('meta', ALIVE_KEY, ctx.steadyMs);
  }).durable;
  if (store.get('meta', ALIVE_KEY) === undefined) throw new StoreUnavailable('nothing can be read');
}

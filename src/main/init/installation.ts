import { randomBytes, randomUUID } from 'node:crypto';
import type { ActorSystem } from '../../actors/system.ts';
import type { TransactionalStore } from '../../store/transactional-store.ts';

/** Where `meta` keeps what makes an installation itself, and how each is made. */
const MADE_ONCE = {
  /** Signs access tokens. */
  'token-secret': () => randomBytes(32).toString('base64'),
  'cluster-id': () => randomBytes(6).readUIntBE(0, 6),
  'cluster-uuid': () => randomUUID(),
};

export interface Installation {
  tokenSecret: Uint8Array;
  clusterId: number;
  memberId: number;
  clusterUuid: string;
}

/** Made once and kept in the store, so that tokens and ids outlive a restart. */
export async function ensureInstallation(system: ActorSystem, store: TransactionalStore): Promise<Installation> {
  const missing = Object.entries(MADE_ONCE).filter(([key]) => store.get('meta', key) === undefined);
  if (missing.length > 0) {
    await system.decider.decide({ cause: { restore: true } }, (scope) => {
      for (const [key, make] of missing) scope.put('meta', key, make());
    }).durable;
  }
  const clusterId = Number(store.get('meta', 'cluster-id'));
  return {
    tokenSecret: Buffer.from(String(store.get('meta', 'token-secret')), 'base64'),
    clusterId,
    memberId: clusterId + 1,
    clusterUuid: String(store.get('meta', 'cluster-uuid')),
  };
}

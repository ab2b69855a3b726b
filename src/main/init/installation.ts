import { randomBytes, randomUUID } from 'node:crypto';
import type { ActorSystem } from '../../actors/system.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';

/** The keys of `meta` that identify an installation, each with the function that makes its value. */
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

/** Reads the identity of the installation and creates it on first use, so that tokens and ids stay valid after a restart. */
export async function ensureInstallation(system: ActorSystem, store: TransactionalStore): Promise<Installation> {
  const missing = Object.entries(MADE_ONCE).filter(([key]) => store.get('meta', key) === undefined);
  if (missing.length > 0) {
    await system.decider.decide({ cause: { restore: true } }, (ctx) => {
      for (const [key, make] of missing) ctx.put('meta', key, make());
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

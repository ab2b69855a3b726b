import { DEFAULT_AGENT_PASSWORD, seed, type Seed } from '../../actors/administration/seed.ts';
import { hashPassword } from '../../auth/credentials.ts';
import type { Clock } from '../../ports/clock.ts';
import { Committer } from '../../store/committer.ts';
import { Decision } from '../../store/decision.ts';
import { LmdbStore } from '../../store/lmdb-store.ts';
import { storeDirectory } from '../process/directories.ts';
import { ownStore } from '../process/own-store.ts';

export interface FirstAdministrator {
  username: string;
  password: string;
  apiKey?: string | undefined;
}

/** Prepares the initial resources. Passwords are hashed before the decision, which is synchronous. */
export async function prepareSeed({ username, password, apiKey }: FirstAdministrator): Promise<Seed> {
  const [passwordHash, agentPasswordHash] = await Promise.all([
    hashPassword(password),
    hashPassword(DEFAULT_AGENT_PASSWORD),
  ]);
  return { username, passwordHash, agentPasswordHash, apiKey };
}

/**
 * Seeds a store that no process has open, in one transaction. `prepare` hashes the passwords.
 * @throws StoreInUse, AlreadyInitialized, InvalidResource
 */
export async function initialise(
  stateDir: string,
  administrator: FirstAdministrator,
  clock: Clock,
  prepare: (administrator: FirstAdministrator) => Promise<Seed> = prepareSeed,
): Promise<void> {
  const lock = await ownStore(stateDir);
  try {
    const prepared = await prepare(administrator);
    const store = new LmdbStore({ directory: storeDirectory(stateDir), sync: 'full' });
    try {
      const committer = new Committer({
        store,
        nowMs: () => clock.nowMs(),
        after: (delayMs, fire) => void clock.after(delayMs, fire),
        listener: { committed: () => undefined, lost: () => undefined, recovered: () => undefined },
      });
      const decision = new Decision(committer);
      seed(decision, prepared, clock.nowMs());
      await committer.commit(decision);
    } finally {
      await store.close();
    }
  } finally {
    lock.release();
  }
}

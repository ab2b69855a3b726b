import {
  DEFAULT_AGENT_PASSWORD,
  createInitialResources,
  type InitialResources,
} from '../../actors/administration/initial-resources.ts';
import { hashPassword } from '../../auth/credentials.ts';
import type { Clock } from '../../ports/clock.ts';
import { storeDirectory } from '../process/directories.ts';
import { ownStore } from '../process/own-store.ts';
import { decideOffline } from './decide-offline.ts';

export interface FirstAdministrator {
  username: string;
  password: string;
  apiKey?: string | undefined;
  /** Whether the cluster role `edit` has no rights to change handlers and mutators. */
  restrictsEdit?: boolean | undefined;
}

/** Prepares the initial resources. Passwords are hashed before the decision, which is synchronous. */
export async function prepareInitialResources({
  username,
  password,
  apiKey,
  restrictsEdit,
}: FirstAdministrator): Promise<InitialResources> {
  const [passwordHash, agentPasswordHash] = await Promise.all([
    hashPassword(password),
    hashPassword(DEFAULT_AGENT_PASSWORD),
  ]);
  return { username, passwordHash, agentPasswordHash, apiKey, restrictsEdit };
}

/**
 * Creates the initial resources in a store that no process has open, in one transaction. `prepare` hashes the passwords.
 * @throws StoreInUse, AlreadyInitialized, InvalidResource
 */
export async function initialise(
  stateDir: string,
  administrator: FirstAdministrator,
  clock: Clock,
  prepare: (administrator: FirstAdministrator) => Promise<InitialResources> = prepareInitialResources,
  controlSocket?: string,
): Promise<void> {
  const lock = await ownStore(stateDir, controlSocket);
  try {
    const prepared = await prepare(administrator);
    await decideOffline(storeDirectory(stateDir), clock, (decision) => {
      createInitialResources(decision, prepared, clock.nowMs());
    });
  } finally {
    lock.release();
  }
}

import { hash } from '@node-rs/bcrypt';
import { DEFAULT_AGENT_PASSWORD, type Seed } from '../../src/actors/administration/seed.ts';
import { initialise } from '../../src/main/init/initialise.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { ADMIN } from './api-client.ts';

/** The least that is accepted: a hash takes 1 ms instead of 60 ms. The real cost is tested in `spec/auth` and by `mon-backend init`. */
const COST = 4;

let seed: Promise<Seed> | undefined;

async function prepareSeed(): Promise<Seed> {
  const [passwordHash, agentPasswordHash] = await Promise.all([
    hash(ADMIN.password, { cost: COST }),
    hash(DEFAULT_AGENT_PASSWORD, { cost: COST }),
  ]);
  return { username: ADMIN.username, passwordHash, agentPasswordHash, apiKey: undefined };
}

/** Initialises a store as `mon-backend init` does, with the administrator of the tests and cheap password hashes. */
export const initialiseForTests = (stateDir: string, clock: Clock): Promise<void> =>
  initialise(stateDir, ADMIN, clock, () => (seed ??= prepareSeed()));

import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hash } from '@node-rs/bcrypt';
import { DEFAULT_AGENT_PASSWORD, type InitialResources } from '../../src/actors/administration/initial-resources.ts';
import { initialise } from '../../src/main/init/initialise.ts';
import { storeDirectory } from '../../src/main/process/directories.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { DATA_FILE } from '../../src/store/lmdb/lmdb-file.ts';
import { ADMIN } from './api-client.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** The least that is accepted: a hash takes 1 ms instead of 60 ms. The real cost is tested in `spec/auth` and by `mon-backend init`. */
export const BCRYPT_COST = 4;
/** Stores of clocks that are nearer to each other than this are copies of one store. */
const SAME_TIME_MS = 3_600_000;

/** The data file of a new store, and the time of its only ledger entry. */
interface InitialStore {
  atMs: number;
  data: Promise<Buffer>;
}

let initial: Promise<InitialResources> | undefined;
const initialStores: InitialStore[] = [];

async function prepareInitialResources(): Promise<InitialResources> {
  const [passwordHash, agentPasswordHash] = await Promise.all([
    hash(ADMIN.password, { cost: BCRYPT_COST }),
    hash(DEFAULT_AGENT_PASSWORD, { cost: BCRYPT_COST }),
  ]);
  return { username: ADMIN.username, passwordHash, agentPasswordHash, apiKey: undefined };
}

const initialiseStore = (stateDir: string, clock: Clock): Promise<void> =>
  initialise(stateDir, ADMIN, clock, () => (initial ??= prepareInitialResources()));

async function dataOfNewStore(clock: Clock): Promise<Buffer> {
  const directory = await temporaryDirectory();
  try {
    await initialiseStore(directory.path, clock);
    return await readFile(join(storeDirectory(directory.path), DATA_FILE));
  } finally {
    await directory.remove();
  }
}

/** Returns the data of a store that was initialised at most an hour before the clock's time. */
function dataAt(clock: Clock): Promise<Buffer> {
  const nowMs = clock.nowMs();
  let known = initialStores.find(({ atMs }) => atMs <= nowMs && nowMs - atMs < SAME_TIME_MS);
  if (known === undefined) {
    known = { atMs: nowMs, data: dataOfNewStore(clock) };
    initialStores.push(known);
  }
  return known.data;
}

/**
 * Initialises a store as `mon-backend init` does, with the administrator of the tests and cheap password hashes. The first store of the
 * process is initialised; the others are copies, which takes no transaction.
 */
export async function initialiseForTests(stateDir: string, clock: Clock): Promise<void> {
  const directory = storeDirectory(stateDir);
  const path = join(directory, DATA_FILE);
  // An existing store is refused, or upgraded, as a new installation would be.
  if (existsSync(path)) return initialiseStore(stateDir, clock);
  const data = await dataAt(clock);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await chmod(directory, 0o700);
  await writeFile(path, data, { mode: 0o600 });
}

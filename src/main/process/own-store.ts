import { connect } from 'node:net';
import { lockStore, ownerOf, StoreInUse, type StoreLock } from '../../store/lmdb/store-lock.ts';
import { isDenial, isNotADirectory, NotADirectory, StoreDenied } from '../../store/no-store.ts';
import { controlSocketPath, storeDirectory } from './directories.ts';

/** Errors of a connection to a socket that no process serves. */
const UNSERVED = ['ENOENT', 'ECONNREFUSED'];

/**
 * Locks the store of a state directory for the only process that may write it. A backend that answers on the control socket owns
 * the store even when the lock is free, as on a file system without working locks. A refusal leaves no new files.
 *
 * @throws StoreInUse, StoreDenied, NotADirectory
 */
export async function ownStore(stateDir: string, controlSocket?: string): Promise<StoreLock> {
  const lock = locked(stateDir);
  try {
    await assertNotServed(stateDir, controlSocket);
    return lock;
  } catch (error) {
    lock.releaseAndRemove();
    throw error;
  }
}

function locked(stateDir: string): StoreLock {
  const directory = storeDirectory(stateDir);
  try {
    return lockStore(directory, placeOf(stateDir));
  } catch (error) {
    if (isDenial(error)) throw new StoreDenied('use', directory, error);
    if (isNotADirectory(error)) throw new NotADirectory(directory);
    throw error;
  }
}

const placeOf = (stateDir: string): string => `--state-dir ${stateDir}`;

/** Asks the control socket, so that a second backend is refused before it loads the whole program. @throws StoreInUse */
export async function assertNotServed(stateDir: string, controlSocket?: string): Promise<void> {
  if (!(await isServed(controlSocketPath(stateDir, controlSocket)))) return;
  throw new StoreInUse(ownerOf(storeDirectory(stateDir)), placeOf(stateDir));
}

/** Whether a process listens on the socket, even if it is paused or too busy to accept. */
function isServed(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EAGAIN') resolve(true);
      else if (UNSERVED.includes(error.code ?? '')) resolve(false);
      else reject(error);
    });
  });
}

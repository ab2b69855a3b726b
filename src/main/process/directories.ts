import { join } from 'node:path';

/** The name of the store's directory within the state directory. */
export const STORE = 'store';

export const storeDirectory = (stateDir: string): string => join(stateDir, STORE);

/** The longest path of a socket; the system truncates a longer one silently. */
const MAX_SOCKET_PATH_BYTES = 107;

/** @throws Error when the state directory's path is too long for a socket in it */
export function controlSocketPath(stateDir: string): string {
  const path = join(stateDir, 'control.sock');
  if (Buffer.byteLength(path) > MAX_SOCKET_PATH_BYTES) {
    throw new Error(`state-dir is too long: ${path} must be at most ${MAX_SOCKET_PATH_BYTES} bytes`);
  }
  return path;
}

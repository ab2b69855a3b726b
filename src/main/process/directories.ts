import { join } from 'node:path';

/** The name of the store's directory within the state directory. */
export const STORE = 'store';

export const storeDirectory = (stateDir: string): string => join(stateDir, STORE);

/** Where the bytes of damaged records are kept. */
export const quarantineDirectory = (stateDir: string): string => join(stateDir, 'quarantine');

/** The longest path of a socket; the system truncates a longer one silently. */
const MAX_SOCKET_PATH_BYTES = 107;

/** The socket that was chosen, or the one in the state directory. @throws Error when its path is too long */
export function controlSocketPath(stateDir: string, chosen?: string): string {
  const path = chosen ?? join(stateDir, 'control.sock');
  if (Buffer.byteLength(path) > MAX_SOCKET_PATH_BYTES) {
    const reason = chosen === undefined ? 'state-dir is too long, set control-socket' : 'control-socket is too long';
    throw new Error(`${reason}: ${path} must be at most ${MAX_SOCKET_PATH_BYTES} bytes`);
  }
  return path;
}

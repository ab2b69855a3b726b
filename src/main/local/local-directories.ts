import { join, resolve } from 'node:path';
import type { Environment } from '../process/hide-secrets.ts';

const VARIABLE = 'MON_BACKEND_STATE_DIR';

/** The directories of `npm start`, as absolute paths. */
export interface LocalDirectories {
  /** All files are in it. Two instances of `npm start` need different ones. */
  home: string;
  /** The state directory of the backend: the home itself when the environment names it. */
  stateDir: string;
}

/** The directories that the environment chooses; below `.mon` by default. */
export function directoriesIn({ [VARIABLE]: named }: Environment): LocalDirectories {
  if (named !== undefined && named !== '') return { home: resolve(named), stateDir: resolve(named) };
  const home = resolve('.mon');
  return { home, stateDir: join(home, 'backend') };
}

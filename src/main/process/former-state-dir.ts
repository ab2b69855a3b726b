import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DATA_FILE } from '../../store/lmdb/lmdb-file.ts';
import { storeDirectory } from './directories.ts';

/** The default state directory of versions before 5.1.0. Source: Version-specific rules, 5.1.0. */
const FORMER_STATE_DIR = '/var/lib/mon';

/** There is a store in the former default directory, and no directory is configured. */
export class FormerStateDirFound extends Error {
  readonly code = 'former-state-dir';

  constructor(formerStateDir: string) {
    super(
      `found data in the former default state directory ${formerStateDir}; set state-dir to it in the configuration file, or move its directory "store"`,
    );
  }
}

/**
 * Ends a start that would create an empty store while the data is in the former default directory.
 * @throws FormerStateDirFound
 */
export function assertNoFormerStore(
  { stateDir, hasDefaultStateDir = false }: { readonly stateDir: string; readonly hasDefaultStateDir?: boolean },
  formerStateDir = FORMER_STATE_DIR,
): void {
  if (!hasDefaultStateDir || existsSync(join(storeDirectory(stateDir), DATA_FILE))) return;
  if (existsSync(storeDirectory(formerStateDir))) throw new FormerStateDirFound(formerStateDir);
}

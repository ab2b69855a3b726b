import { fstatSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Where the system lists the descriptors of this process. */
const LISTED = '/dev/fd';

/** Returns the descriptors by which this process has files of a directory open. LMDB leaves its own open to commands. */
export function openDescriptorsIn(directory: string): number[] {
  const idOf = ({ dev, ino }: { dev: number; ino: number }): string => `${dev}:${ino}`;
  const files = new Set(readdirSync(directory).map((name) => idOf(statSync(join(directory, name)))));
  return readdirSync(LISTED)
    .map(Number)
    .filter((descriptor) => {
      try {
        return files.has(idOf(fstatSync(descriptor)));
      } catch (error) {
        // The descriptor of the list itself is closed by now.
        if ((error as NodeJS.ErrnoException).code === 'EBADF') return false;
        throw error;
      }
    });
}

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/**
 * Whether the file of the program that a command names first has the SHA-512 checksum, in lower case. A name without a slash is
 * searched in `searchPath`. Source: spec/03 4.6.
 */
export async function hasAllowedFile(command: string, sha512: string, searchPath: string): Promise<boolean> {
  const [name = ''] = command.split(/\s+/, 1);
  if (name === '') return false;
  const file = name.includes('/') ? name : await found(name, searchPath);
  if (file === undefined) return false;
  try {
    const hash = createHash('sha512');
    await pipeline(createReadStream(file), hash);
    return hash.digest('hex') === sha512;
  } catch {
    // The program is refused like one with another checksum, because it cannot be run anyway.
    return false;
  }
}

async function found(name: string, searchPath: string): Promise<string | undefined> {
  for (const directory of searchPath.split(delimiter)) {
    const file = join(directory || '.', name);
    if (await isProgram(file)) return file;
  }
  return undefined;
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

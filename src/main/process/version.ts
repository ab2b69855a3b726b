import { readFileSync } from 'node:fs';

interface Manifest {
  version: string;
}

/** The version in `package.json`, which has the same relative path from `dist/main` and from `src/main`. */
export function readVersion(): string {
  return (JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as Manifest).version;
}

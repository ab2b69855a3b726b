import { readFileSync } from 'node:fs';

interface Manifest {
  version: string;
}

/** Of the package, which lies beside `dist/main` as beside `src/main`. */
export function readVersion(): string {
  return (JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as Manifest).version;
}

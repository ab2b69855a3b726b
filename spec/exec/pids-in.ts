import { existsSync, readFileSync } from 'node:fs';

/** The numbers that processes have written into a file, a line each. */
export const pidsIn = (path: string): number[] =>
  existsSync(path)
    ? readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map(Number)
    : [];

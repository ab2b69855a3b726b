import { readdirSync, readFileSync } from 'node:fs';

/** Children of a process, in the order of their numbers, whose last argument is the given word. */
export function childrenOf(parent: number, lastArgument: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent && argumentsOf(pid).at(-1) === lastArgument)
    .toSorted((a, b) => a - b);
}

/** Undefined when it is gone, or only waits for its parent to read its end. */
function parentOf(pid: number): number | undefined {
  const [, state, parent] = /\) (\S) (\d+) /.exec(textOf(`/proc/${pid}/stat`)) ?? [];
  return state === undefined || state === 'Z' ? undefined : Number(parent);
}

const argumentsOf = (pid: number): string[] => textOf(`/proc/${pid}/cmdline`).split('\0').slice(0, -1);

/** Nothing of a process that ended meanwhile. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
    throw error;
  }
}

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** A built checkout of the repository. */
export interface Checkout {
  /** As it is named in tables. */
  name: string;
  root: string;
}

/** This checkout, which `npm run bench` has built. */
export const HERE: Checkout = { name: 'here', root: ROOT };

/** Returns the path of a program of a checkout. */
export function programOf({ root }: Checkout, program: 'mon-backend' | 'mon-agent'): string {
  const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { bin: Record<string, string> };
  return join(root, bin[program] ?? '');
}

/** Runs with a checkout of a commit, built with the packages of this one, and removes it. @throws Error if it cannot be built */
export async function withCheckout<T>(commit: string, use: (checkout: Checkout) => Promise<T>): Promise<T> {
  const root = mkdtempSync(join(tmpdir(), 'mon-against-'));
  const git = (...args: string[]) => run('git', args, { cwd: ROOT });
  try {
    await git('worktree', 'add', '--quiet', '--detach', '--force', root, commit);
    symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
    await run('npm', ['run', '--silent', 'build'], { cwd: root });
    await run('npx', ['tsc', '-p', 'tsconfig.json', '--noEmit', 'false', '--outDir', '.modules'], { cwd: root });
    const { stdout } = await git('rev-parse', '--short', commit);
    return await use({ name: stdout.trim(), root });
  } finally {
    rmSync(root, { recursive: true, force: true });
    await git('worktree', 'prune');
  }
}

import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Bundles a program of the tests, so that it starts quickly. Returns its path; it is removed when this process ends. */
export function bundledProgram(source: string): string {
  const directory = join(ROOT, 'dist', 'spec', randomUUID());
  execFileSync(process.execPath, ['scripts/bundle.js', source, directory], { cwd: ROOT });
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  return join(directory, `${basename(source, '.ts')}.js`);
}

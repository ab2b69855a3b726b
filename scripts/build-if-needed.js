import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';

/** Compiles when `dist` is missing, or when a source file is newer than it. Types are not checked: the compiler is the only package that this needs. */
const newest = ['src', 'web']
  .flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => `${folder}/${name}`))
  .map((name) => statSync(name).mtimeMs)
  .reduce((latest, mtimeMs) => Math.max(latest, mtimeMs), 0);
const built = statSync('dist/main/local.cjs', { throwIfNoEntry: false })?.mtimeMs ?? 0;

if (newest > built) {
  const { status } = spawnSync('npm', ['run', '--silent', 'compile'], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}

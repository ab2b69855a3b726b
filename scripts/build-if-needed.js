import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';

/** Runs the build when there is none, or when a source file is newer than it. */
const newest = readdirSync('src', { recursive: true })
  .map((name) => statSync(`src/${name}`).mtimeMs)
  .reduce((latest, mtimeMs) => Math.max(latest, mtimeMs), 0);
const built = statSync('dist/main/local.js', { throwIfNoEntry: false })?.mtimeMs ?? 0;

if (newest > built) {
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Runs a built program of `dist/main`; says how to build it when it is missing. */
export async function runBuilt(name) {
  const program = new URL(`../dist/main/${name}.js`, import.meta.url);
  if (existsSync(program)) {
    await import(program.href);
    return;
  }
  const root = fileURLToPath(new URL('..', import.meta.url));
  process.stderr.write(
    `mon is not built: run "npm ci" in ${root}, or "npm run compile" if its packages are installed\n`,
  );
  process.exitCode = 1;
}

'use strict';
const { existsSync } = require('node:fs');
const { join } = require('node:path');

/** Runs a built program of `dist/main`; says how to build it when it is missing. */
module.exports = function runBuilt(name) {
  const root = join(__dirname, '..');
  const program = join(root, 'dist/main', `${name}.cjs`);
  if (existsSync(program)) {
    require(program);
    return;
  }
  process.stderr.write(
    `mon is not built: run "npm ci" in ${root}, or "npm run compile" if its packages are installed\n`,
  );
  process.exitCode = 1;
};

'use strict';
const { isAscii } = require('node:buffer');
const { readFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const { Script } = require('node:vm');

/**
 * Loads the built programs, with the code that V8 compiled for them at the build (docs/decisions/0052-start-of-programs.md).
 * `scripts/bundle.js` copies this file to `dist`.
 */
const CHUNKS = join(__dirname, 'chunks');
/** Another version of Node.js finds no code in its own directory, and compiles the source. */
const COMPILED = join(__dirname, `compiled-${process.version}-${process.platform}-${process.arch}`);

const modules = new Map();
let recorded;

/** What a chunk has as `require`: another chunk, a module of Node.js, or a package. */
const requireInChunk = (name) => (name.startsWith('./') ? load(name.slice(2)) : require(name));
requireInChunk.resolve = require.resolve;

function load(chunk) {
  const known = modules.get(chunk);
  if (known !== undefined) return known.exports;
  const module = { exports: {} };
  modules.set(chunk, module);
  const path = join(CHUNKS, chunk);
  const script = new Script(sourceIn(path), { filename: path, cachedData: compiledCode(chunk) });
  recorded?.push({ chunk, script });
  // The source is a function in parentheses.
  script.runInThisContext()(module.exports, requireInChunk, module, path, dirname(path));
  return module.exports;
}

/** Text in ASCII needs one byte for each character in memory, other text two. */
function sourceIn(path) {
  const bytes = readFileSync(path);
  return isAscii(bytes) ? bytes.latin1Slice() : bytes.toString();
}

/** V8 itself refuses code of another version or with other flags. The name of a chunk has a digest of its source. */
function compiledCode(chunk) {
  try {
    return readFileSync(join(COMPILED, chunk));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

module.exports = {
  COMPILED,
  load,
  /** Records the chunks that are loaded from now on. Returns a function that returns the code of those, as far as it was called. */
  record() {
    recorded = [];
    return () =>
      recorded.map(({ chunk, script }) => ({
        chunk,
        code: script.createCachedData(),
        isRefused: script.cachedDataRejected,
      }));
  },
};

import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { rolldown } from 'rolldown';
import { COMPILER, compileSchemas, virtualModules } from './compiled-schemas.js';

/**
 * Builds `dist` from `src`: one file per program, and chunks that it loads later. A program that loads a few files starts in
 * half the time of one that loads a thousand (docs/decisions/0042-bundled-programs.md). Types are not checked here.
 * `scripts/precompile.js` then adds compiled code.
 *
 * `bundle.js <source> <directory>` builds one program in a directory of this package instead.
 */
const PROGRAMS = ['main/backend', 'main/agent', 'main/local', 'main/queue-check', 'main/store-probe', 'sandbox/worker'];
const DIRECTORY = 'dist';

/**
 * Settings of V8 that a program changes at its start, before its code is loaded: saved code is valid for the same settings only.
 * An agent is idle most of the time. It optimises only functions that run ten times as often as usual, because the optimising
 * compiler takes 3.4 MB when it first runs, and its memory for new objects does not grow, which takes up to 32 MB.
 */
const V8_FLAGS = {
  'main/agent': ['--interrupt-budget=675840', '--max-bytecode-size-for-early-opt=0', '--semi-space-growth-factor=1'],
};

/** Packages with native code, WebAssembly or files that they read at run time. They are loaded from `node_modules`. */
const EXTERNAL = [
  /^lmdb$/,
  /^bufferutil$/,
  /^msgpackr/,
  /^@node-rs\//,
  /^quickjs-emscripten/,
  /^@jitl\//,
  /^swagger-ui-dist/,
];

const optionsFor = (input, plugins = []) => ({
  input,
  plugins,
  external: EXTERNAL,
  platform: 'node',
  // A dependency of Koa names its functions by `eval`.
  checks: { eval: false },
  transform: { target: 'node20.19' },
});

/** Text in ASCII needs one byte for each character in memory, other text two. */
const inAscii = (code) =>
  code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Writes a chunk, which `scripts/programs/load.cjs` loads. */
function writeChunk(fileName, code) {
  mkdirSync(dirname(`${DIRECTORY}/${fileName}`), { recursive: true });
  const text = `(function (exports, require, module, __filename, __dirname) {${inAscii(code)}\n})`;
  writeFileSync(`${DIRECTORY}/${fileName}`, text);
}

/** Writes the compiled schemas. Returns the module that loads them, each when it is first needed. */
async function writeSchemas() {
  const files = {};
  for (const [name, code] of await compileSchemas()) {
    const digest = createHash('sha256').update(code).digest('base64url').slice(0, 8);
    files[name] = `schema-${name}-${digest}.cjs`;
    writeChunk(`chunks/${files[name]}`, code);
  }
  return `
    const files = ${JSON.stringify(files)};
    export function compiledSchema(name) {
      let validate;
      return () => (validate ??= require('./' + files[name]));
    }`;
}

/** Builds a program. Returns the file name of its first chunk. */
async function bundle(program, schemas) {
  const plugins = [virtualModules({ schemas }, { [COMPILER]: 'schemas' })];
  const build = await rolldown(optionsFor({ [basename(program)]: `src/${program}.ts` }, plugins));
  const { output } = await build.generate({
    format: 'cjs',
    strict: true,
    comments: { legal: true, annotation: false, jsdoc: false },
    // The chunks lie as deep as the folders of `src`, so that relative addresses of files are the same for both.
    entryFileNames: 'chunks/[name]-[hash].cjs',
    chunkFileNames: 'chunks/[name]-[hash].cjs',
    sourcemap: true,
  });
  await build.close();
  for (const { fileName, type, code, source } of output) {
    if (type === 'chunk') writeChunk(fileName, code);
    else writeFileSync(`${DIRECTORY}/${fileName}`, source);
  }
  return basename(output[0].fileName);
}

async function bundleAll() {
  rmSync(DIRECTORY, { recursive: true, force: true });
  mkdirSync(DIRECTORY);
  copyFileSync('scripts/programs/load.cjs', `${DIRECTORY}/load.cjs`);
  const schemas = await writeSchemas();
  for (const program of PROGRAMS) {
    const first = await bundle(program, schemas);
    mkdirSync(dirname(`${DIRECTORY}/${program}`), { recursive: true });
    const flags = (V8_FLAGS[program] ?? []).map((flag) => `require('node:v8').setFlagsFromString('${flag}');\n`);
    writeFileSync(`${DIRECTORY}/${program}.cjs`, `${flags.join('')}require('../load.cjs').load('${first}');\n`);
  }
}

/** Builds one program that needs no loader. */
async function bundleOne(source, directory) {
  const build = await rolldown(optionsFor({ [basename(source, '.ts')]: source }));
  await build.write({ dir: directory, format: 'esm', entryFileNames: '[name].js', sourcemap: true });
  await build.close();
}

const [, , source, directory] = process.argv;
if (source === undefined) await bundleAll();
else await bundleOne(source, directory);

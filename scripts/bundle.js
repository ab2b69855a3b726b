import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { rolldown } from 'rolldown';

/**
 * Builds `dist` from `src`: one file per program, and chunks that it loads later. A program that loads a few files starts in
 * half the time of one that loads a thousand (docs/decisions/0042-bundled-programs.md). Types are not checked here.
 * `scripts/precompile.js` then adds compiled code.
 *
 * `bundle.js <source> <directory>` builds one program in a directory of this package instead.
 */
const PROGRAMS = ['main/backend', 'main/agent', 'main/local', 'main/queue-check', 'main/store-probe', 'sandbox/worker'];
const DIRECTORY = 'dist';

/** Packages with native code, WebAssembly or files that they read at run time. They are loaded from `node_modules`. */
const EXTERNAL = [/^lmdb$/, /^msgpackr/, /^@node-rs\//, /^quickjs-emscripten/, /^@jitl\//, /^swagger-ui-dist/];

const optionsFor = (input) => ({
  input,
  external: EXTERNAL,
  platform: 'node',
  // A dependency of Koa names its functions by `eval`.
  checks: { eval: false },
  transform: { target: 'node20.19' },
});

/** Text in ASCII needs one byte for each character in memory, other text two. */
const inAscii = (code) =>
  code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Builds a program. Returns the file name of its first chunk. */
async function bundle(program) {
  const build = await rolldown(optionsFor({ [basename(program)]: `src/${program}.ts` }));
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
    // `scripts/programs/load.cjs` calls this function.
    const text =
      type === 'chunk' ? `(function (exports, require, module, __filename, __dirname) {${inAscii(code)}\n})` : source;
    mkdirSync(dirname(`${DIRECTORY}/${fileName}`), { recursive: true });
    writeFileSync(`${DIRECTORY}/${fileName}`, text);
  }
  return basename(output[0].fileName);
}

async function bundleAll() {
  rmSync(DIRECTORY, { recursive: true, force: true });
  mkdirSync(DIRECTORY);
  copyFileSync('scripts/programs/load.cjs', `${DIRECTORY}/load.cjs`);
  for (const program of PROGRAMS) {
    const first = await bundle(program);
    mkdirSync(dirname(`${DIRECTORY}/${program}`), { recursive: true });
    writeFileSync(`${DIRECTORY}/${program}.cjs`, `require('../load.cjs').load('${first}');\n`);
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

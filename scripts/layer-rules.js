import { readdirSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path/posix';
import { LAYERS, ONLY, PURE, SUB_LAYERS } from './layers.js';

/** Generates the linter's import rules from `layers.js`, and fails when a folder has no layer. */
const FILE = '.oxlintrc.layers.json';

const rowOf = (rows, name) => rows.findIndex((row) => row.includes(name));

/** Every folder that holds source files, as `http` or `http/routes`. */
const folders = [
  ...new Set(
    readdirSync('src', { recursive: true })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => dirname(file)),
  ),
].toSorted();

const split = (folder) => {
  const [top, ...rest] = folder.split('/');
  return { top, sub: rest.join('/') };
};

/** Whether the tables contain the folder. */
function isPlaced(folder) {
  const { top, sub } = split(folder);
  return rowOf(LAYERS, top) >= 0 && (sub === '' || rowOf(SUB_LAYERS[top] ?? [], sub) >= 0);
}

/** Whether a file of `from` may import a file of `to`. */
function mayImport(from, to) {
  const [a, b] = [split(from), split(to)];
  if (a.top !== b.top) {
    const only = ONLY[a.top];
    if (only !== undefined) return only.includes(b.top);
    return rowOf(LAYERS, b.top) < rowOf(LAYERS, a.top);
  }
  if (a.sub === b.sub || a.sub === '') return true;
  return b.sub !== '' && rowOf(SUB_LAYERS[a.top], b.sub) < rowOf(SUB_LAYERS[a.top], a.sub);
}

const escaped = (text) => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');

/** Matches the specifiers by which a file in `from` imports a file that lies directly in `to`. */
function specifier(from, to) {
  const path = relative(from, to);
  return `^${escaped(path.startsWith('.') ? path : `./${path}`)}\\/[^/]+$`;
}

/** The files in `to` that `from` may import although it may not import from that folder. */
const exceptionsOf = (from, to) => (ONLY[split(from).top] ?? []).filter((file) => dirname(file) === to);

function patternsOf(folder) {
  const message = `src/${folder} may not import from there: imports point down (scripts/layers.js)`;
  const patterns = folders
    .filter((other) => other !== folder && !mayImport(folder, other))
    .map((other) => {
      const exceptions = exceptionsOf(folder, other);
      if (exceptions.length === 0) return { regex: specifier(folder, other), message };
      const path = relative(folder, other);
      return { group: [`${path}/*`, ...exceptions.map((file) => `!${relative(folder, file)}`)], message };
    });
  patterns.push({
    regex: String.raw`^\/|(^|\/)src\/|\/\.\/|^\.\/\.\.|[^./]\/\.\.(\/|$)`,
    message: 'an import names the shortest relative path, so that the rules for folders see it',
  });
  if (PURE.includes(split(folder).top)) {
    patterns.push({
      regex: '^(lmdb|ws|koa|@koa/router|pino|prom-client)$',
      message: `src/${folder} imports no library that does input or output (scripts/layers.js)`,
    });
    patterns.push({ regex: '^node:', message: `src/${folder} imports no Node.js modules (scripts/layers.js)` });
  }
  return patterns;
}

const unplaced = folders.filter((folder) => !isPlaced(folder));
for (const folder of unplaced) process.stderr.write(`src/${folder} has no layer: add it to scripts/layers.js\n`);

const overrides = folders.map((folder) => ({
  files: [`src/${folder}/*.ts`],
  rules: { 'no-restricted-imports': ['error', { patterns: patternsOf(folder) }] },
}));

if (unplaced.length > 0) process.exitCode = 1;
else writeFileSync(FILE, JSON.stringify({ overrides }));

import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { compileFunction } from 'node:vm';
import { rolldown } from 'rolldown';

/** The module that compiles schemas. The programs have the code that `compileSchemas` returns instead. */
export const COMPILER = resolve('src/resources/compiled-schema.ts');
const INT64 = resolve('src/resources/int64.ts');
const CALL = /\bvalidator\(\s*'/;

/** A plugin for modules that are in no file. `names` has their names by what imports say. */
export const virtualModules = (modules, names = {}) => ({
  name: 'virtual-modules',
  resolveId(id, importer) {
    const name = names[id] ?? (importer && names[join(importer, '..', id)]) ?? id;
    return name in modules || name !== id ? name : undefined;
  },
  load: (id) => (id in modules ? { code: modules[id], moduleType: 'js' } : undefined),
});

/** Builds a module, and all that it imports, to one CommonJS module. */
async function built(code, modules, names) {
  const build = await rolldown({
    input: { module: 'entry' },
    platform: 'node',
    plugins: [virtualModules({ entry: code, ...modules }, names)],
    transform: { target: 'node20.19' },
  });
  const { output } = await build.generate({
    format: 'cjs',
    // Most of the code would be indentation.
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  });
  await build.close();
  return output[0].code;
}

/** Loads all modules with schemas, with a compiler that only keeps them. Returns them by name, and the real compiler. */
async function schemasOfSource() {
  const paths = readdirSync('src', { recursive: true })
    .map((name) => resolve('src', name))
    .filter((path) => path.endsWith('.ts') && CALL.test(readFileSync(path, 'utf8')));
  const imports = paths.map((path) => `import ${JSON.stringify(path)};`);
  const collector = `
    export const schemas = new Map();
    export function compiledSchema(name, schema) {
      if (schemas.has(name)) throw new Error('two schemas are named ' + name);
      schemas.set(name, schema);
    }`;
  const entry = `
    export { default as standalone } from 'ajv/dist/standalone/index.js';
    export { schemas } from 'collector';
    export * from 'compiler';
    ${imports.join('\n')}`;
  const code = await built(entry, { collector }, { compiler: COMPILER, [COMPILER]: 'collector' });
  const exports = {};
  compileFunction(code, ['exports', 'require'])(exports, createRequire(import.meta.url));
  return exports;
}

/** Compiles the schemas of the source. Returns modules that export the function that validates, by the names of the schemas. */
export async function compileSchemas() {
  const { schemas, schemaCompiler, standalone, withoutNames } = await schemasOfSource();
  const compiled = new Map();
  for (const [name, schema] of schemas) {
    const compiler = schemaCompiler({ source: true });
    const code = (standalone.default ?? standalone)(compiler, compiler.compile(withoutNames(schema)));
    compiled.set(name, await built(`module.exports = require('code');`, { code }, { 'mon:int64': INT64 }));
  }
  return compiled;
}

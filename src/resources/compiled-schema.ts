import { _, Ajv2020, type CodeOptions, type KeywordCxt, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Static, TSchema } from 'typebox';
import { EXACT_INT64, isInt64 } from './int64.ts';

/** With `source`, the code that a schema compiles to can be written to a file (`scripts/compiled-schemas.js`). */
export function schemaCompiler(code: CodeOptions = {}): Ajv2020 {
  const ajv = new Ajv2020({ allowUnionTypes: true, strictTypes: false, code });
  ajv.addKeyword({
    keyword: EXACT_INT64,
    schema: false,
    code(cxt: KeywordCxt) {
      const check = cxt.gen.scopeValue('func', { ref: isInt64, code: _`require("mon:int64").isInt64` });
      cxt.fail(_`${cxt.data} !== null && !${check}(${cxt.data})`);
    },
    error: { message: 'must be a whole number of 64 bits' },
  });
  return ajv;
}

/** Removes `$id`s of nested schemas, because Ajv rejects a schema with an `$id` that occurs twice. */
export function withoutNames(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutNames);
  if (schema === null || typeof schema !== 'object') return schema;
  const members = Object.entries(schema).filter(([keyword]) => keyword !== '$id');
  return Object.fromEntries(members.map(([keyword, value]) => [keyword, withoutNames(value)]));
}

const compiler = schemaCompiler();

/**
 * Returns a function that compiles the schema at its first call. The build replaces this module: in the programs the function
 * loads the code that the build compiled, by the name (docs/decisions/0056-memory-of-an-idle-agent.md).
 */
export function compiledSchema<T extends TSchema>(_name: string, schema: T): () => ValidateFunction<Static<T>> {
  let validate: ValidateFunction<Static<T>> | undefined;
  return () => (validate ??= compiler.compile<Static<T>>(withoutNames(schema) as T));
}

import type { ErrorObject } from 'ajv/dist/2020.js';
import { type Static, type TObject, type TSchema, Type } from 'typebox';
import { compiledSchema } from './compiled-schema.ts';
import { InvalidResource } from './errors.ts';
import { EXACT_INT64, type Int64, LARGEST_INT64_NUMBER } from './int64.ts';

const MAX_UINT32 = 4_294_967_295;
const MIN_INT32 = -2_147_483_648;
const MAX_INT32 = 2_147_483_647;

/** A member that may be absent or `null`. Both mean "not set" in all protocols. */
export const optional = <T extends TSchema>(schema: T) =>
  Type.Optional(Type.Unsafe<Static<T> | null>({ ...schema, type: [(schema as { type?: string }).type, 'null'] }));

export const text = (description?: string) => Type.String(description === undefined ? {} : { description });
export const flag = (options?: { description: string }) => Type.Boolean(options);
export const uint32 = (description?: string) =>
  Type.Integer({ minimum: 0, maximum: MAX_UINT32, ...(description === undefined ? {} : { description }) });
export const int32 = () => Type.Integer({ minimum: MIN_INT32, maximum: MAX_INT32 });
/** Rejects numbers beyond 2^53, which would lose digits. Use `roundedInt64` or `exactInt64` for larger ones. */
export const int64 = (description?: string) =>
  Type.Integer({
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    ...(description === undefined ? {} : { description }),
  });
/** A 64-bit integer. Beyond 2^53 it is rounded, which is precise enough for durations and sizes. */
export const roundedInt64 = (description: string) =>
  Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: LARGEST_INT64_NUMBER, description });
/** An exact 64-bit integer, or `null` for not set. JSON Schema has no type for `bigint`. */
export const exactInt64 = (description: string) => Type.Unsafe<Int64 | null>({ [EXACT_INT64]: true, description });
/** A list of strings, in which clients may send `null` for an empty string: `textsOf` replaces it. */
export const textList = (items: { maxLength?: number } = {}, list: { maxItems?: number; description?: string } = {}) =>
  Type.Array(Type.Unsafe<string | null>({ type: ['string', 'null'], ...items }), list);
/** A list of strings as a value of a map, where it may be `null`. */
export const optionalTexts = () =>
  Type.Unsafe<(string | null)[] | null>({ type: ['array', 'null'], items: { type: ['string', 'null'] } });
/**
 * A map with any keys. `Type.Record` would not validate the value under a key with a line break, and brings the parser of TypeBox
 * into every program: 110 kB.
 */
export const mapOf = <T extends TSchema>(values: T, options: { description?: string } = {}) =>
  Type.Unsafe<Record<string, Static<T>>>({ type: 'object', additionalProperties: values, ...options });
/** An object without some of its members. `Type.Omit` brings the parser of TypeBox into every program. */
export const withoutMembers = (schema: TObject, names: readonly string[], options: { $id: string }) =>
  Type.Object(Object.fromEntries(Object.entries(schema.properties).filter(([name]) => !names.includes(name))), options);
export const textMap = () => mapOf(Type.Unsafe<string | null>({ type: ['string', 'null'] }));

/** Formats the first error as field and rule: `check.status must be >= 0`. */
function describe({ instancePath, keyword, params, message = 'is invalid' }: ErrorObject): string {
  // A JSON pointer escapes the slashes and tildes of names.
  const field = instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
  const types: unknown = keyword === 'type' ? params['type'] : undefined;
  return `${field === '' ? 'body' : field} ${Array.isArray(types) ? `must be ${types.join(' or ')}` : message}`;
}

/**
 * Returns a function that validates its argument. The schema is compiled, or its compiled code loaded, at the first use, so that
 * a program starts without those that it never needs. The function throws InvalidResource with the first invalid field and the
 * rule. `name` must be unique: the build writes the compiled code of the schema under it.
 */
export function validator<T extends TSchema>(name: string, schema: T): (value: unknown) => Static<T> {
  const compiled = compiledSchema(name, schema);
  return (value) => {
    const validate = compiled();
    if (validate(value)) return value;
    const [error] = validate.errors ?? [];
    throw new InvalidResource(error === undefined ? 'body is invalid' : describe(error));
  };
}

/** Returns undefined for empty values, which are rendered as absent. */
export const orAbsent = <T extends string | number | boolean>(value: T | null | undefined): T | undefined =>
  value ? value : undefined;
export const listOrAbsent = <T>(value: T[] | null | undefined): T[] | undefined =>
  value && value.length > 0 ? value : undefined;
export const listOrNull = <T>(value: T[] | null | undefined): T[] | null => (value && value.length > 0 ? value : null);

type SentTexts = (string | null)[] | null | undefined;

/** Replaces `null` by an empty text. Returns the list itself when it has none. */
export const textsOf = (sent: (string | null)[]): string[] =>
  sent.includes(null) ? sent.map((item) => item ?? '') : (sent as string[]);
export const textsOrAbsent = (sent: SentTexts): string[] | undefined => listOrAbsent(sent && textsOf(sent));
export const textsOrNull = (sent: SentTexts): string[] | null => listOrNull(sent && textsOf(sent));

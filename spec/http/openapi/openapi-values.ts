import fc from 'fast-check';
import type { ReadDocument, Schema } from './openapi-document.ts';

/** The names are few, so that some requests concern objects that earlier requests wrote. */
export const NAMES = ['a', 'b', 'c.d:e'];
const WORDS = fc.oneof(
  { arbitrary: fc.constantFrom(...NAMES), weight: 6 },
  { arbitrary: fc.string({ maxLength: 8 }), weight: 1 },
);

const oneOf = (...texts: string[]): fc.Arbitrary<string> => fc.constantFrom(...texts);

/** Texts for members with a meaning. The commands are harmless, the addresses are local, and no handler is ever called. */
const TEXTS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  namespace: oneOf('default', 'a', ''),
  command: oneOf('true', ''),
  eval: oneOf('return 1'),
  host: oneOf('127.0.0.1'),
  url: oneOf('http://127.0.0.1:9/'),
  handlers: oneOf('nobody', ''),
  type: oneOf('pipe', 'set', 'tcp', 'User', 'group', 'Role', 'ClusterRole', 'EventFilter', 'Mutator', 'Handler'),
  api_version: oneOf('core/v2', ''),
  action: oneOf('allow', 'deny'),
  verbs: oneOf('*', 'get', 'get,list', 'shout'),
  expressions: oneOf('true', 'event.check.status == 0', '('),
  entity_attributes: oneOf('true', "entity.entity_class == 'proxy'", '('),
  entity_class: oneOf('proxy', 'agent', 'a'),
  env_vars: oneOf('A=B', 'A'),
  cron: oneOf('* * * * *', '@every 1m', '61 * * * *'),
  begin: oneOf('2030-01-02T03:04:05Z', '1:00 PM'),
  end: oneOf('2030-01-02T04:04:05Z', '2:00 PM'),
  sha512: oneOf('a'.repeat(128), 'a'),
  password: oneOf('short', 'long enough'),
  password_hash: oneOf(`$2a$04$${'a'.repeat(53)}`, 'a'),
  output_metric_format: oneOf('graphite_plaintext', 'a'),
  id: oneOf('83abef1e-e7d7-4beb-91fc-79ad90084d5b', 'a'),
};

/** Larger objects get only a few members at a time, because the first rule that a member breaks hides the later rules. */
const MANY_MEMBERS = 8;

/** Generates values that a schema of the document allows. `member` is the name of the member that has the schema. */
export function valuesOf(document: ReadDocument, given: Schema, member = ''): fc.Arbitrary<unknown> {
  const schema = document.resolve(given);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((one) => valuesOf(document, one, member)));
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? 'any'];
  const values = types.map((type) => ({
    arbitrary: valuesOfType(document, type, schema, member),
    weight: type === 'null' ? 1 : 8,
  }));
  return fc.oneof(...values);
}

function valuesOfType(document: ReadDocument, type: string, schema: Schema, member: string): fc.Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'string':
      return TEXTS[member] ?? WORDS;
    case 'integer':
      return integers(schema);
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'array':
      return fc.array(valuesOf(document, schema.items ?? {}, member), { maxLength: Math.min(schema.maxItems ?? 3, 3) });
    case 'object':
      return objects(document, schema);
    default:
      return fc.jsonValue();
  }
}

function integers({ minimum = -Infinity, maximum = Infinity }: Schema): fc.Arbitrary<number> {
  const small = fc.integer({ min: Math.max(minimum, 0), max: Math.min(maximum, 100) });
  const any = fc.maxSafeInteger().filter((value) => value >= minimum && value <= maximum);
  return fc.oneof({ arbitrary: small, weight: 4 }, { arbitrary: any, weight: 1 });
}

function objects(document: ReadDocument, { properties = {}, required = [], additionalProperties }: Schema) {
  if (typeof additionalProperties === 'object') {
    return fc.dictionary(WORDS, valuesOf(document, additionalProperties), { maxKeys: 3, noNullPrototype: true });
  }
  const names = Object.keys(properties);
  const absent = names.length > MANY_MEMBERS ? 4 : 1;
  const members = Object.entries(properties).map(([name, schema]) => {
    const values = valuesOf(document, schema, name);
    if (required.includes(name) || name === 'metadata') return [name, values] as const;
    const maybe = fc.oneof({ arbitrary: fc.constant(undefined), weight: absent }, { arbitrary: values, weight: 1 });
    return [name, maybe] as const;
  });
  return fc.record(Object.fromEntries(members), { noNullPrototype: true }).map(present);
}

/** Removes the members that are undefined, as JSON does. */
const present = (members: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

/** Generates values that the schema does not allow: a valid value, or one member of it at any depth, gets another type. */
export function breakingValuesOf(document: ReadDocument, schema: Schema): fc.Arbitrary<unknown> {
  const wrong = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.string(),
    fc.constantFrom([[]], { a: {} }),
  );
  return fc
    .tuple(valuesOf(document, schema), fc.constantFrom([], ...membersOf(document, schema)), wrong)
    .map(([value, path, replacement]) => replaced(value, path, replacement))
    .filter((value) => document.errorOf(schema, value) !== undefined);
}

/** Returns the paths of all members, except those of lists. */
function membersOf(document: ReadDocument, given: Schema, path: readonly string[] = []): (readonly string[])[] {
  const schema = document.resolve(given);
  const nested = (schema.anyOf ?? []).flatMap((one) => membersOf(document, one, path));
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const inside = [...path, name];
    return [inside, ...membersOf(document, member, inside)];
  });
  return [...nested, ...own];
}

function replaced(value: unknown, [name, ...rest]: readonly string[], by: unknown): unknown {
  if (name === undefined) return by;
  const object: Record<string, unknown> = value !== null && typeof value === 'object' ? { ...value } : {};
  return { ...object, [name]: replaced(object[name], rest, by) };
}

import fc from 'fast-check';
import type { ApiRequest } from '../../support/api-client.ts';
import type { Operation, ReadDocument } from './openapi-document.ts';
import { breakingValuesOf, NAMES, valuesOf } from './openapi-values.ts';

type Texts = Record<string, string>;

const FORM = 'application/x-www-form-urlencoded';

/** Values of path parameters that occur in the store, and some that do not. */
const PARAMETERS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  namespace: fc.constantFrom('default', 'default', 'a', 'none'),
  silence: fc.constantFrom('entity:a:a', 'a:*'),
  type: fc.constantFrom('0', 'critical', 'never'),
  actor: fc.constantFrom('entity', 'check-ttl', 'nothing'),
  key: fc.constantFrom('default/a', 'default/a/a'),
  memberId: fc.constantFrom('1a', 'none'),
};
const FREE = fc
  .string({ minLength: 1, maxLength: 8, unit: 'grapheme' })
  .filter((text) => Buffer.from(text).toString() === text && text !== '.' && text !== '..');
const NAME = fc.oneof({ arbitrary: fc.constantFrom('a', 'a', ...NAMES), weight: 6 }, { arbitrary: FREE, weight: 1 });

/** Generates requests whose parameters and body the document allows. */
export function requestsOf(document: ReadDocument, operation: Operation): fc.Arbitrary<ApiRequest> {
  const { body } = operation;
  const bodies = body === undefined ? fc.constant(undefined) : valuesOf(document, body.schema);
  return fc
    .tuple(pathsOf(operation), bodies, fc.nat(3))
    .map(([{ path, params }, value, chance]) =>
      request(operation, path, chance === 0 ? value : addressed(value, params)),
    );
}

/** Generates requests whose body the document does not allow. */
export function breakingRequestsOf(document: ReadDocument, operation: Operation): fc.Arbitrary<ApiRequest> {
  const { body } = operation;
  if (body === undefined) throw new Error(`${operation.operationId} takes no body`);
  return fc
    .tuple(pathsOf(operation), breakingValuesOf(document, body.schema))
    .map(([{ path }, value]) => request(operation, path, value));
}

function pathsOf({ path, parameters }: Operation): fc.Arbitrary<{ path: string; params: Texts }> {
  const named = (where: string) => parameters.filter((parameter) => parameter.in === where);
  const params = fc.record(Object.fromEntries(named('path').map(({ name }) => [name, PARAMETERS[name] ?? NAME])), {
    noNullPrototype: true,
  });
  const query = fc.record(Object.fromEntries(named('query').map(({ name }) => [name, QUERY_VALUES[name] ?? NAME])), {
    requiredKeys: [],
    noNullPrototype: true,
  });
  return fc.tuple(params, query).map(([given, asked]) => {
    const segments = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(given[name] ?? ''));
    const search = new URLSearchParams(asked as Texts).toString();
    return { path: search === '' ? segments : `${segments}?${search}`, params: given };
  });
}

/** Values of query parameters that have a grammar. */
const QUERY_VALUES: Readonly<Record<string, fc.Arbitrary<string>>> = {
  limit: fc.constantFrom('1', '2', '0', '-1'),
  continue: fc.constantFrom('1', 'YQA', '='),
  machine: fc.constantFrom('entity', 'connection', 'nothing'),
  timeout: fc.constantFrom('1', '0', '1.5'),
  fieldSelector: fc.constantFrom('', "event.name == 'a'", 'a != b && c in [d, "e"]', '=='),
  labelSelector: fc.constantFrom('', 'a matches b', 'x in y', '('),
  entity: fc.constantFrom('default/a', 'a'),
  since: fc.constantFrom('1', '2030-01-02T03:04:05Z', 'now'),
};

function request({ method, body }: Operation, path: string, value: unknown): ApiRequest {
  if (body === undefined) return { method, path };
  const headers = { 'content-type': body.type };
  if (body.type === FORM && value !== null && typeof value === 'object' && !Array.isArray(value)) {
    return { method, path, headers, body: new URLSearchParams(value as Texts).toString() };
  }
  return { method, path, headers, body: value ?? {} };
}

/** Returns the body with the names of the path, which it must repeat. */
function addressed(body: unknown, { namespace, entity, check, asset, name = asset, silence }: Texts): unknown {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return body;
  if (entity !== undefined) {
    const { entity: sentEntity, check: sentCheck, ...rest } = body as Record<string, unknown>;
    const placed = { entity: withMetadata(sentEntity, { namespace, name: entity }) };
    return { ...rest, ...placed, check: withMetadata(sentCheck, { namespace, name: check }) };
  }
  const named = Object.entries(body).map(([member, value]) => {
    return [member, member === 'name' || member === 'username' ? (name ?? value) : value];
  });
  return withMetadata(Object.fromEntries(named), { namespace, name: name ?? silence });
}

/** Sets the names in the metadata of a value; a value without metadata stays unchanged. */
function withMetadata(
  value: unknown,
  { namespace, name }: { namespace: string | undefined; name: string | undefined },
) {
  if (value === null || typeof value !== 'object' || !('metadata' in value)) return value;
  const { metadata, ...rest } = value;
  return { ...rest, metadata: { ...(metadata as object | null), namespace, ...(name === undefined ? {} : { name }) } };
}

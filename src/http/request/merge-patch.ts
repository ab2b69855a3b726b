import { InvalidResource } from '../../resources/errors.ts';
import { parseOnlyObject } from './json-body.ts';

const TYPE = 'application/merge-patch+json';
/** What a body without a type is taken for. */
const NO_TYPE = 'application/x-www-form-urlencoded';
const CHARSET = /;\s*charset=[^;]*$/i;

/** The patch that a body is; one of an empty content type passes. @throws InvalidResource */
export function parseMergePatch(bytes: Buffer, contentType: string | undefined): object {
  assertPatchType(contentType ?? NO_TYPE);
  return parseOnlyObject(bytes);
}

function assertPatchType(header: string): void {
  const type = header.replace(CHARSET, '').trimEnd();
  if (type === TYPE || type === '') return;
  const refusal =
    type === 'application/json-patch+json'
      ? 'JSON Patch is not supported yet.'
      : `invalid Content-Type header: ${header}. `;
  throw new InvalidResource(`${refusal} Allowed values: ${TYPE}`);
}

/** What `patch` makes of a resource, which stays as it is; its shape and its rules are still to be judged. */
export const patched = (resource: object, patch: object): object => mergePatch(resource, patch) as object;

/** Source: RFC 7396. Members are own properties, `__proto__` too. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}

/** As a patch is answered: lists that it made empty are shown as that, which are not told from absent ones when they are stored. */
export const withSentLists = (shown: object, patch: object): object => overlaid(shown, patch) as object;

function overlaid(shown: unknown, patch: unknown): unknown {
  if (!isObject(shown) || !isObject(patch)) return shown ?? (isEmptyList(patch) ? patch : shown);
  const sent = new Map(Object.entries(patch));
  return Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, overlaid(value, sent.get(name))]));
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

import { InvalidResource } from '../../resources/errors.ts';
import { parseSingleObject } from './json-body.ts';

const TYPE = 'application/merge-patch+json';
/** Assumed for a body without a content type. */
const NO_TYPE = 'application/x-www-form-urlencoded';
const CHARSET = /;\s*charset=[^;]*$/i;

/** Parses a merge patch. An empty content type is accepted. @throws InvalidResource */
export function parseMergePatch(bytes: Buffer, contentType: string | undefined): object {
  assertPatchType(contentType ?? NO_TYPE);
  return parseSingleObject(bytes);
}

function assertPatchType(header: string): void {
  const type = header.replace(CHARSET, '').trimEnd();
  if (type === TYPE || type === '') return;
  const reason =
    type === 'application/json-patch+json'
      ? 'JSON Patch is not supported yet.'
      : `invalid Content-Type header: ${header}. `;
  throw new InvalidResource(`${reason} Allowed values: ${TYPE}`);
}

/** Returns a patched copy of `resource`. The caller must validate its shape and rules. */
export const applyPatch = (resource: object, patch: object): object => mergePatch(resource, patch) as object;

/** Merges as RFC 7396 specifies. Members are own properties, `__proto__` included. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

import { InvalidResource } from '../../resources/errors.ts';
import type { ObjectMeta } from '../../resources/object-meta.ts';

/**
 * Skips cluster-wide paths, which have no namespace; there the rules of the kind reject one in the body.
 * @throws InvalidResource when the body names another namespace than the path
 */
export function assertSameNamespace(inBody: string | undefined, inPath: string | undefined): void {
  if (inPath !== undefined && (inBody ?? '') !== inPath) throw mismatch('namespace', inBody, 'of', inPath);
}

/** @throws InvalidResource when the body names another object than the path */
export function assertSameName(inBody: string | undefined, inPath: string): void {
  if (inBody !== inPath) throw mismatch('name', inBody, 'of', inPath);
}

/**
 * Accepts a patch that omits namespace or name. `names` are all names of the object.
 * @throws InvalidResource when the patch names another object
 */
export function assertNotMoved(
  patch: Pick<ObjectMeta, 'namespace' | 'name'>,
  namespace: string,
  names: readonly [string, ...string[]],
): void {
  if (patch.namespace !== undefined && patch.namespace !== namespace) {
    throw mismatch('namespace', patch.namespace, 'in', namespace);
  }
  if (patch.name !== undefined && !names.includes(patch.name)) throw mismatch('name', patch.name, 'in', names[0]);
}

function mismatch(what: string, inBody: string | undefined, at: 'of' | 'in', inPath: string): InvalidResource {
  return new InvalidResource(
    `the ${what} of the resource (${inBody ?? ''}) does not match the ${what} ${at} the URI (${inPath})`,
  );
}

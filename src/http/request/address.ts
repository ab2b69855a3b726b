import { InvalidResource } from '../../resources/errors.ts';
import type { ObjectMeta } from '../../resources/object-meta.ts';

/** Cluster-wide paths have none: there the rules of the kind say that it has none either. @throws InvalidResource when a body names another namespace than the path */
export function assertSameNamespace(inBody: string | undefined, inPath: string | undefined): void {
  if (inPath !== undefined && (inBody ?? '') !== inPath) throw mismatch('namespace', inBody, 'of', inPath);
}

/** @throws InvalidResource when a body names another object than the path */
export function assertSameName(inBody: string | undefined, inPath: string): void {
  if (inBody !== inPath) throw mismatch('name', inBody, 'of', inPath);
}

/** A patch need not name what it is for, which may be known by several names. @throws InvalidResource when it names another */
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

import { InvalidResource } from '../resources/errors.ts';

/** @throws InvalidResource when a body names another namespace than the path */
export function assertSameNamespace(inBody: string | undefined, inPath: string): void {
  if (inBody !== inPath) throw mismatch('namespace', inBody, 'namespace of the URI', inPath);
}

/** @throws InvalidResource when a body names another object than the path */
export function assertSameName(inBody: string | undefined, inPath: string): void {
  if (inBody !== inPath) throw mismatch('name', inBody, 'name of the URI', inPath);
}

function mismatch(what: string, inBody: string | undefined, whatOfPath: string, inPath: string): InvalidResource {
  return new InvalidResource(
    `the ${what} of the resource (${inBody ?? ''}) does not match the ${whatOfPath} (${inPath})`,
  );
}

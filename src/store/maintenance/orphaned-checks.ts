const CHECKS = 'checks/';
const NAMESPACES = 'namespaces/';
/** Checks that the message of the error names. */
const MAX_NAMED = 20;

/** Checks are in namespaces that do not exist. Source: Version-specific rules, 6.2.0. */
export class OrphanedChecks extends Error {
  readonly code = 'orphaned-checks';

  constructor(checks: readonly string[]) {
    const named = checks.slice(0, MAX_NAMED).join(', ');
    const others = checks.length > MAX_NAMED ? ` and ${checks.length - MAX_NAMED} others` : '';
    super(
      `checks are in namespaces that do not exist: ${named}${others}; run "mon-backend upgrade --create-missing-namespaces" with the same --state-dir, start the backend, delete these checks, then the namespaces`,
    );
  }
}

/** The keys of the table of resources that begin with a prefix. */
type KeysOfResources = (prefix: string) => Iterable<string>;

/** The checks whose namespace does not exist, as `namespace/check`. */
export function orphanedChecks(keys: KeysOfResources): string[] {
  const namesBelow = (prefix: string): string[] => [...keys(prefix)].map((key) => key.slice(prefix.length));
  const namespaces = new Set(namesBelow(NAMESPACES));
  return namesBelow(CHECKS).filter((check) => !namespaces.has(namespaceOf(check)));
}

/** The namespaces that checks name and that do not exist. */
export const missingNamespaces = (keys: KeysOfResources): string[] => [
  ...new Set(orphanedChecks(keys).map(namespaceOf)),
];

/** @throws OrphanedChecks */
export function assertChecksHaveNamespaces(keys: KeysOfResources): void {
  const checks = orphanedChecks(keys);
  if (checks.length > 0) throw new OrphanedChecks(checks);
}

const namespaceOf = (check: string): string => check.slice(0, check.indexOf('/'));

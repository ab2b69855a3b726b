import { InvalidResource } from '../../resources/errors.ts';
import type { Rule } from '../../resources/role.ts';
import type { User } from '../../resources/user.ts';
import { EVERYTHING, holds, type Policy, policyOf, subjectOf } from '../../rules/rbac.ts';
import type { Decision } from '../../store/commit/decision.ts';
import type { ResourceKind } from '../../store/encoding/keyspace.ts';
import { readResource, type Resources } from '../../store/resource-store.ts';

/**
 * Asserts that a change of a user leaves an administrator. It reads all users when the user stops being an administrator.
 * @throws InvalidResource when no enabled user with all rights would be left
 */
export function assertLeavesAdministrator(decision: Decision, before: User, after: User): void {
  if (before.disabled || keepsAll(before, after)) return;
  const policy = clusterPolicy(decision);
  if (!isAdministrator(policy, before) || isAdministrator(policy, after)) return;
  const others = listed(decision, 'users').filter(({ username }) => username !== after.username);
  if (others.some((user) => isAdministrator(policy, user))) return;
  throw new InvalidResource(`${after.username} is the last administrator: grant all rights to another user first`);
}

/**
 * Runs `change`, which writes or deletes a resource. It reads all users only for a role, or a binding to one, that grants all rights.
 * @throws InvalidResource when there was an administrator before and there is none after
 */
export function changeLeavingAdministrator(decision: Decision, kind: ResourceKind, name: string, change: () => void) {
  const hadAdministrator = givesEverything(decision, kind, name) && hasAdministrator(decision);
  change();
  if (!hadAdministrator || hasAdministrator(decision)) return;
  throw new InvalidResource('no user with all rights would be left: grant all rights to a user in another way first');
}

function keepsAll(before: User, after: User): boolean {
  const kept = new Set(after.groups);
  return !after.disabled && (before.groups ?? []).every((group) => kept.has(group));
}

/** Reports whether the role or binding can make a user an administrator. */
function givesEverything(decision: Decision, kind: ResourceKind, name: string): boolean {
  if (kind === 'clusterroles') {
    return readResource(decision, kind, undefined, name)?.rules.some(isEverything) ?? false;
  }
  if (kind !== 'clusterrolebindings') return false;
  const role = readResource(decision, kind, undefined, name)?.role_ref;
  return role?.type === 'ClusterRole' && givesEverything(decision, 'clusterroles', role.name);
}

/** No combination of other rules grants all rights. */
const isEverything = ({ verbs, resources, resource_names: names }: Rule): boolean =>
  names === null && verbs?.includes('*') === true && resources?.includes('*') === true;

function hasAdministrator(decision: Decision): boolean {
  const policy = clusterPolicy(decision);
  return listed(decision, 'users').some((user) => isAdministrator(policy, user));
}

const clusterPolicy = (decision: Decision): Policy =>
  policyOf({
    clusterRoles: listed(decision, 'clusterroles'),
    clusterRoleBindings: listed(decision, 'clusterrolebindings'),
    // Roles and bindings of a namespace make no user an administrator.
    roles: [],
    roleBindings: [],
  });

const isAdministrator = (policy: Policy, user: User): boolean =>
  !user.disabled && holds(policy, subjectOf(user), [EVERYTHING], undefined);

/** Returns all resources of a cluster-wide kind, in no order. */
const listed = <K extends ResourceKind>(decision: Decision, kind: K): Resources[K][] =>
  [...decision.keys('resources', `${kind}/`)].map((key) => decision.get('resources', key) as Resources[K]);

import { InvalidResource } from '../resources/errors.ts';
import type { User } from '../resources/user.ts';
import { EVERYTHING, holds, type Policy, policyOf, subjectOf } from '../rules/rbac.ts';
import type { Decision } from '../store/decision.ts';
import type { ResourceKind } from '../store/keyspace.ts';
import type { Resources } from '../store/resource-store.ts';

/**
 * Before a user becomes what `after` says. It costs all users when an administrator is to be none any more.
 * @throws InvalidResource when nobody would be left who may log in and holds everything
 */
export function assertLeavesAdministrator(decision: Decision, before: User, after: User): void {
  const policy = policyOf({
    clusterRoles: listed(decision, 'clusterroles'),
    clusterRoleBindings: listed(decision, 'clusterrolebindings'),
    // What is of one namespace makes nobody an administrator.
    roles: [],
    roleBindings: [],
  });
  if (!isAdministrator(policy, before) || isAdministrator(policy, after)) return;
  const others = listed(decision, 'users').filter(({ username }) => username !== after.username);
  if (others.some((user) => isAdministrator(policy, user))) return;
  throw new InvalidResource(`${after.username} is the last administrator: give all rights to somebody else first`);
}

const isAdministrator = (policy: Policy, user: User): boolean =>
  !user.disabled && holds(policy, subjectOf(user), [EVERYTHING], undefined);

/** All of a cluster-wide kind, in no order. */
const listed = <K extends ResourceKind>(decision: Decision, kind: K): Resources[K][] =>
  [...decision.keys('resources', `${kind}/`)].map((key) => decision.get('resources', key) as Resources[K]);

import { Forbidden } from '../resources/errors.ts';
import type { RoleBinding } from '../resources/role-binding.ts';
import type { Rule } from '../resources/role.ts';
import {
  type AccessRequest,
  decideAccess,
  EVERYTHING,
  holds,
  holdsAllOf,
  type Policy,
  policyOf,
  seesAllNamespaces,
  seesNamespace,
  type Subject,
} from '../rules/rbac.ts';
import type { ResourceStore } from '../store/resource-store.ts';

/** Authorizes requests by the stored roles and bindings. It caches the policy until `rbacChanged` is called. */
export class AccessControl {
  readonly #resources: Pick<ResourceStore, 'get' | 'list'>;
  #policy: Policy | undefined;

  constructor(resources: Pick<ResourceStore, 'get' | 'list'>) {
    this.#resources = resources;
  }

  rbacChanged(): void {
    this.#policy = undefined;
  }

  /** @throws Forbidden */
  assertAllowed(subject: Subject, request: AccessRequest): void {
    const decision = decideAccess(this.#current(), subject, request);
    if (!decision.allowed) throw new Forbidden(decision.missingRole);
  }

  isAllowed(subject: Subject, request: AccessRequest): boolean {
    return decideAccess(this.#current(), subject, request).allowed;
  }

  /** @throws Forbidden when `rules` grant more in `namespace` than `subject` holds */
  assertHolds(subject: Subject, rules: readonly Rule[], namespace: string | undefined): void {
    if (holds(this.#current(), subject, rules, namespace)) return;
    throw new Forbidden('unauthorized to grant rights that are not held');
  }

  /**
   * Checks the rules of the role that the binding refers to. A role that does not exist yet counts as one that grants
   * everything.
   * @throws Forbidden
   */
  assertMayBind(subject: Subject, { role_ref: { type, name }, metadata: { namespace } }: RoleBinding): void {
    const role =
      type === 'ClusterRole'
        ? this.#resources.get('clusterroles', undefined, name)
        : this.#resources.get('roles', namespace, name);
    this.assertHolds(subject, role?.rules ?? [EVERYTHING], namespace);
  }

  /** @throws Forbidden when `other` holds a right that `subject` does not */
  assertHoldsAllOf(subject: Subject, other: Subject): void {
    if (holdsAllOf(this.#current(), subject, other)) return;
    throw new Forbidden('unauthorized to grant rights that are not held');
  }

  seesNamespace(subject: Subject, namespace: string): boolean {
    return seesNamespace(this.#current(), subject, namespace);
  }

  seesAllNamespaces(subject: Subject): boolean {
    return seesAllNamespaces(this.#current(), subject);
  }

  #current(): Policy {
    this.#policy ??= policyOf({
      clusterRoles: this.#resources.list('clusterroles').items,
      clusterRoleBindings: this.#resources.list('clusterrolebindings').items,
      roles: this.#resources.list('roles').items,
      roleBindings: this.#resources.list('rolebindings').items,
    });
    return this.#policy;
  }
}

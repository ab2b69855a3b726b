import { Forbidden } from '../resources/errors.ts';
import { type AccessRequest, decideAccess, type Policy, policyOf, seesNamespace, type Subject } from '../rules/rbac.ts';
import type { ResourceStore } from '../store/resource-store.ts';

/** Decides by the stored roles and bindings, of which it keeps a copy until it is told that they changed. */
export class AccessControl {
  readonly #resources: Pick<ResourceStore, 'list'>;
  #policy: Policy | undefined;

  constructor(resources: Pick<ResourceStore, 'list'>) {
    this.#resources = resources;
  }

  rbacChanged(): void {
    this.#policy = undefined;
  }

  /** @throws Forbidden */
  assertAllowed(subject: Subject, request: AccessRequest): void {
    const verdict = decideAccess(this.#current(), subject, request);
    if (!verdict.allowed) throw new Forbidden(verdict.missingRole);
  }

  seesNamespace(subject: Subject, namespace: string): boolean {
    return seesNamespace(this.#current(), subject, namespace);
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

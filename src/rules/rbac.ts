import type { Role, Rule } from '../resources/role.ts';
import type { RoleBinding } from '../resources/role-binding.ts';
import type { User } from '../resources/user.ts';

export type Verb = 'get' | 'list' | 'create' | 'update' | 'delete';

/** The user of a request. Names are compared exactly; a user never matches a group of the same name. */
export interface Subject {
  username: string;
  groups: readonly string[];
}

/** The group of all users, which lets users read their own account. */
export const USERS_GROUP = 'system:users';

/** Returns the subject of a stored user. */
export const subjectOf = ({ username, groups }: Pick<User, 'username' | 'groups'>): Subject => ({
  username,
  groups: [...(groups ?? []), USERS_GROUP],
});

/** An operation on a resource. Lists and creation by POST have the name `''`. */
export interface AccessRequest {
  verb: Verb;
  /** The kind name in the path, for example `checks`. */
  resource: string;
  /** Undefined for cluster-wide resources and for lists of all namespaces. */
  namespace: string | undefined;
  name: string;
}

export type AccessResult = { allowed: true } | { allowed: false; missingRole: string | undefined };

/** The rule that makes a user an administrator when it applies to the whole cluster. */
export const EVERYTHING: Rule = { verbs: ['*'], resources: ['*'], resource_names: null };

/** A rule, prepared for lookups. */
interface Right {
  verbs: ReadonlySet<string>;
  resources: ReadonlySet<string>;
  /** The names of the resources; undefined = all. */
  names: ReadonlySet<string> | undefined;
}

/** A binding joined with the rules of its role. */
interface Grant {
  users: ReadonlySet<string>;
  groups: ReadonlySet<string>;
  /** The rights of the role; undefined when the role does not exist. */
  rights: readonly Right[] | undefined;
  /** The error message when the role does not exist and nothing else allows the request. */
  missingRole: string;
}

/** Roles and bindings, prepared for decisions. */
export interface Policy {
  cluster: readonly Grant[];
  byNamespace: ReadonlyMap<string, readonly Grant[]>;
}

export interface PolicySources {
  clusterRoles: readonly Role[];
  /** The bindings are sorted by name. */
  clusterRoleBindings: readonly RoleBinding[];
  roles: readonly Role[];
  roleBindings: readonly RoleBinding[];
}

/** A cluster-wide rule for one of these resources makes all namespaces visible. Pipelines are not among them. */
const CORE_RESOURCES = 'assets checks entities events filters handlers hooks mutators silenced'.split(' ');

export function policyOf(sources: PolicySources): Policy {
  const ofClusterRole = new Map(sources.clusterRoles.map(({ metadata, rules }) => [metadata.name, rightsOf(rules)]));
  const ofRole = new Map(
    sources.roles.map(({ metadata, rules }) => [`${metadata.namespace}/${metadata.name}`, rightsOf(rules)]),
  );
  const byNamespace = new Map<string, Grant[]>();
  for (const binding of sources.roleBindings) {
    const { name, type } = binding.role_ref;
    const namespace = binding.metadata.namespace ?? '';
    const grant =
      type === 'ClusterRole'
        ? grantOf(binding, ofClusterRole.get(name), `cluster role not found: ${name}`)
        : grantOf(binding, ofRole.get(`${namespace}/${name}`), `role not found: ${name}`);
    const grants = byNamespace.get(namespace);
    if (grants === undefined) byNamespace.set(namespace, [grant]);
    else grants.push(grant);
  }
  const cluster = sources.clusterRoleBindings.map((binding) => {
    const { name, type } = binding.role_ref;
    // A cluster role binding can only name a cluster role: a role belongs to one namespace.
    return type === 'ClusterRole'
      ? grantOf(binding, ofClusterRole.get(name), `cluster role not found: ${name}`)
      : grantOf(binding, undefined, `role not found: ${name}`);
  });
  return { cluster, byNamespace };
}

const rightsOf = (rules: readonly Rule[]): Right[] =>
  rules.map(({ verbs, resources, resource_names: names }) => ({
    verbs: new Set(verbs),
    resources: new Set(resources),
    names: names === null ? undefined : new Set(names),
  }));

function grantOf(binding: RoleBinding, rights: readonly Right[] | undefined, missingRole: string): Grant {
  const named = (type: string) =>
    new Set(binding.subjects.filter((subject) => subject.type === type).map((subject) => subject.name));
  return { users: named('User'), groups: named('Group'), rights, missingRole };
}

/** Rules only allow. A missing role is reported only when no other rule allows the request. */
export function decideAccess(policy: Policy, subject: Subject, request: AccessRequest): AccessResult {
  let missingRole: string | undefined;
  const inNamespace = request.namespace === undefined ? undefined : policy.byNamespace.get(request.namespace);
  for (const grants of [policy.cluster, inNamespace ?? []]) {
    for (const grant of grants) {
      if (!isFor(grant, subject)) continue;
      if (grant.rights === undefined) missingRole ??= grant.missingRole;
      else if (grant.rights.some((right) => allows(right, request))) return { allowed: true };
    }
  }
  return { allowed: false, missingRole };
}

function isFor(grant: Grant, { username, groups }: Subject): boolean {
  return grant.users.has(username) || groups.some((group) => grant.groups.has(group));
}

const includes = (terms: ReadonlySet<string>, term: string): boolean => terms.has(term) || terms.has('*');

function allows({ verbs, resources, names }: Right, { verb, resource, name }: AccessRequest): boolean {
  return includes(verbs, verb) && includes(resources, resource) && (names === undefined || names.has(name));
}

/**
 * Reports whether `subject` holds all rights of `rules` in a namespace, or in the whole cluster when it is undefined. Users may
 * only grant rights that they hold. Source: spec/02 15.
 */
export function holds(
  policy: Policy,
  subject: Subject,
  rules: readonly Rule[],
  namespace: string | undefined,
): boolean {
  return includesAll(heldIn(policy, subject, namespace), rightsOf(rules));
}

function heldIn(policy: Policy, subject: Subject, namespace: string | undefined): Right[] {
  const grants = [...policy.cluster, ...(policy.byNamespace.get(namespace ?? '') ?? [])];
  return grants.filter((grant) => isFor(grant, subject)).flatMap((grant) => grant.rights ?? []);
}

/** Reports whether the held rights include the wanted ones. Held rights with names count only if they contain all names of the wanted right. */
function includesAll(held: readonly Right[], wanted: readonly Right[]): boolean {
  const ofAllNames = resourcesByVerb(held.filter(({ names }) => names === undefined));
  return wanted.every((right) => {
    if (covers(ofAllNames, right)) return true;
    const { names } = right;
    return names !== undefined && covers(resourcesByVerb(held.filter((one) => hasNames(one, names))), right);
  });
}

const hasNames = ({ names }: Right, wanted: ReadonlySet<string>): boolean =>
  names === undefined || (names.size >= wanted.size && [...wanted].every((name) => names.has(name)));

type ResourcesByVerb = ReadonlyMap<string, ReadonlySet<string>>;

function resourcesByVerb(rights: readonly Right[]): ResourcesByVerb {
  const byVerb = new Map<string, Set<string>>();
  for (const { verbs, resources } of rights) {
    for (const verb of verbs) {
      const together = byVerb.get(verb) ?? new Set();
      for (const resource of resources) together.add(resource);
      byVerb.set(verb, together);
    }
  }
  return byVerb;
}

/** Reports whether each verb of the right is held for each of its resources. */
const covers = (held: ResourcesByVerb, { verbs, resources }: Right): boolean =>
  [...verbs].every((verb) => {
    const sets = [held.get(verb), held.get('*')].filter((set) => set !== undefined);
    return [...resources].every((resource) => sets.some((set) => includes(set, resource)));
  });

/** Reports whether `subject` holds all rights of `other`, and may therefore act as `other` or grant the same rights. */
export function holdsAllOf(policy: Policy, subject: Subject, other: Subject): boolean {
  const isHeldIn = (namespace: string | undefined, grants: readonly Grant[]): boolean => {
    const wanted = grants.filter((grant) => isFor(grant, other)).flatMap((grant) => grant.rights ?? []);
    return wanted.length === 0 || includesAll(heldIn(policy, subject, namespace), wanted);
  };
  return (
    isHeldIn(undefined, policy.cluster) &&
    [...policy.byNamespace].every(([namespace, grants]) => isHeldIn(namespace, grants))
  );
}

/** Reports whether `subject` may see that a namespace exists: it may get the namespace or something in it. */
export function seesNamespace(policy: Policy, subject: Subject, namespace: string): boolean {
  return (
    mayGet(policy.cluster, subject, (right) => showsNamespace(right, namespace)) ||
    mayGet(policy.byNamespace.get(namespace) ?? [], subject, ({ resources }) => resources.size > 0)
  );
}

/** Reports whether `subject` sees all namespaces, so that they need not be checked one by one. */
export const seesAllNamespaces = (policy: Policy, subject: Subject): boolean =>
  mayGet(policy.cluster, subject, showsAllNamespaces);

function mayGet(grants: readonly Grant[], subject: Subject, shows: (right: Right) => boolean): boolean {
  return grants.some(
    (grant) =>
      isFor(grant, subject) && (grant.rights ?? []).some((right) => includes(right.verbs, 'get') && shows(right)),
  );
}

function showsAllNamespaces({ resources, names }: Right): boolean {
  if (CORE_RESOURCES.some((resource) => resources.has(resource))) return true;
  return includes(resources, 'namespaces') && names === undefined;
}

function showsNamespace(right: Right, namespace: string): boolean {
  return showsAllNamespaces(right) || (includes(right.resources, 'namespaces') && right.names?.has(namespace) === true);
}

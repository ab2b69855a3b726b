import type { Role, Rule } from '../resources/role.ts';
import type { RoleBinding } from '../resources/role-binding.ts';
import type { User } from '../resources/user.ts';

export type Verb = 'get' | 'list' | 'create' | 'update' | 'delete';

/** Who asks. Both are compared by exact text; a user never matches a group of the same name. */
export interface Subject {
  username: string;
  groups: readonly string[];
}

/** All users are in it; everybody can see himself through it. */
export const USERS_GROUP = 'system:users';

/** A user as he is stored. */
export const subjectOf = ({ username, groups }: Pick<User, 'username' | 'groups'>): Subject => ({
  username,
  groups: [...(groups ?? []), USERS_GROUP],
});

/** What is asked for. Lists and creation by POST have the name `''`. */
export interface AccessRequest {
  verb: Verb;
  /** The word of the path, for example `checks`. */
  resource: string;
  /** undefined for what belongs to the whole cluster and for lists of all namespaces. */
  namespace: string | undefined;
  name: string;
}

export type Verdict = { allowed: true } | { allowed: false; missingRole: string | undefined };

/** Whoever holds it everywhere is an administrator. */
export const EVERYTHING: Rule = { verbs: ['*'], resources: ['*'], resource_names: null };

/** A rule whose words are looked up. */
interface Right {
  verbs: ReadonlySet<string>;
  resources: ReadonlySet<string>;
  /** undefined = all. */
  names: ReadonlySet<string> | undefined;
}

/** A binding joined with the rules of its role. */
interface Grant {
  users: ReadonlySet<string>;
  groups: ReadonlySet<string>;
  /** undefined when the role does not exist. */
  rights: readonly Right[] | undefined;
  /** What to tell when nothing else allows and the role does not exist. */
  missingRole: string;
}

/** Roles and bindings, ready for decisions. */
export interface Policy {
  cluster: readonly Grant[];
  byNamespace: ReadonlyMap<string, readonly Grant[]>;
}

export interface PolicySources {
  clusterRoles: readonly Role[];
  /** In order of names. */
  clusterRoleBindings: readonly RoleBinding[];
  roles: readonly Role[];
  roleBindings: readonly RoleBinding[];
}

/** Resources for which any cluster-wide rule shows all namespaces; pipelines are none of them. */
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

/** The first rule that allows wins; nothing denies. A missing role counts only when nothing else allows. */
export function decideAccess(policy: Policy, subject: Subject, request: AccessRequest): Verdict {
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

const includes = (words: ReadonlySet<string>, word: string): boolean => words.has(word) || words.has('*');

function allows({ verbs, resources, names }: Right, { verb, resource, name }: AccessRequest): boolean {
  return includes(verbs, verb) && includes(resources, resource) && (names === undefined || names.has(name));
}

/**
 * Whether `subject` has all that `rules` would give: in a namespace, or everywhere when it is undefined. Nobody may give
 * what he has not. Source: spec/02, 15.
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

/** All names of what is wanted must be in one right that is held. */
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

/** Each of its verbs on each of its resources. */
const covers = (held: ResourcesByVerb, { verbs, resources }: Right): boolean =>
  [...verbs].every((verb) => {
    const sets = [held.get(verb), held.get('*')].filter((set) => set !== undefined);
    return [...resources].every((resource) => sets.some((set) => includes(set, resource)));
  });

/** Whether `subject` has all that `other` has: only then may he become the other, or give away what makes one so. */
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

/** Whether `subject` may see that a namespace exists: it may get something of it, or the namespace itself. */
export function seesNamespace(policy: Policy, subject: Subject, namespace: string): boolean {
  return (
    mayGet(policy.cluster, subject, (right) => showsNamespace(right, namespace)) ||
    mayGet(policy.byNamespace.get(namespace) ?? [], subject, ({ resources }) => resources.size > 0)
  );
}

/** Whoever does need not be asked for each. */
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

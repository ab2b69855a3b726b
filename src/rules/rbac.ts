import type { Role, Rule } from '../resources/role.ts';
import type { RoleBinding } from '../resources/role-binding.ts';

export type Verb = 'get' | 'list' | 'create' | 'update' | 'delete';

/** Who asks. Both are compared by exact text; a user never matches a group of the same name. */
export interface Subject {
  username: string;
  groups: readonly string[];
}

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

/** A binding joined with the rules of its role. */
interface Grant {
  users: ReadonlySet<string>;
  groups: ReadonlySet<string>;
  /** undefined when the role does not exist. */
  rules: readonly Rule[] | undefined;
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
const CORE_RESOURCES = new Set('assets checks entities events filters handlers hooks mutators silenced'.split(' '));

export function policyOf(sources: PolicySources): Policy {
  const clusterRules = new Map(sources.clusterRoles.map((role) => [role.metadata.name, role.rules]));
  const rules = new Map(sources.roles.map((role) => [`${role.metadata.namespace}/${role.metadata.name}`, role.rules]));
  const byNamespace = new Map<string, Grant[]>();
  for (const binding of sources.roleBindings) {
    const { name, type } = binding.role_ref;
    const namespace = binding.metadata.namespace ?? '';
    const grant =
      type === 'ClusterRole'
        ? grantOf(binding, clusterRules.get(name), `cluster role not found: ${name}`)
        : grantOf(binding, rules.get(`${namespace}/${name}`), `role not found: ${name}`);
    const grants = byNamespace.get(namespace);
    if (grants === undefined) byNamespace.set(namespace, [grant]);
    else grants.push(grant);
  }
  const cluster = sources.clusterRoleBindings.map((binding) => {
    const { name, type } = binding.role_ref;
    // A cluster role binding can only name a cluster role: a role belongs to one namespace.
    return type === 'ClusterRole'
      ? grantOf(binding, clusterRules.get(name), `cluster role not found: ${name}`)
      : grantOf(binding, undefined, `role not found: ${name}`);
  });
  return { cluster, byNamespace };
}

function grantOf(binding: RoleBinding, rules: readonly Rule[] | undefined, missingRole: string): Grant {
  const named = (type: string) =>
    new Set(binding.subjects.filter((subject) => subject.type === type).map((subject) => subject.name));
  return { users: named('User'), groups: named('Group'), rules, missingRole };
}

/** The first rule that allows wins; nothing denies. A missing role counts only when nothing else allows. */
export function decideAccess(policy: Policy, subject: Subject, request: AccessRequest): Verdict {
  let missingRole: string | undefined;
  const inNamespace = request.namespace === undefined ? undefined : policy.byNamespace.get(request.namespace);
  for (const grants of [policy.cluster, inNamespace ?? []]) {
    for (const grant of grants) {
      if (!isFor(grant, subject)) continue;
      if (grant.rules === undefined) missingRole ??= grant.missingRole;
      else if (grant.rules.some((rule) => allows(rule, request))) return { allowed: true };
    }
  }
  return { allowed: false, missingRole };
}

function isFor(grant: Grant, { username, groups }: Subject): boolean {
  return grant.users.has(username) || groups.some((group) => grant.groups.has(group));
}

const includes = (words: readonly string[] | null, word: string): boolean =>
  words !== null && (words.includes(word) || words.includes('*'));

function allows(rule: Rule, { verb, resource, name }: AccessRequest): boolean {
  return (
    includes(rule.verbs, verb) &&
    includes(rule.resources, resource) &&
    (rule.resource_names === null || rule.resource_names.includes(name))
  );
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
  const grants = [...policy.cluster, ...(policy.byNamespace.get(namespace ?? '') ?? [])];
  const held = grants.filter((grant) => isFor(grant, subject)).flatMap((grant) => grant.rules ?? []);
  return rules.every(({ verbs, resources, resource_names: names }) =>
    (verbs ?? []).every((verb) =>
      (resources ?? []).every((resource) =>
        held.some(
          (rule) =>
            includes(rule.verbs, verb) && includes(rule.resources, resource) && hasNames(rule.resource_names, names),
        ),
      ),
    ),
  );
}

const hasNames = (held: readonly string[] | null, wanted: readonly string[] | null): boolean =>
  held === null || (wanted !== null && wanted.every((name) => held.includes(name)));

/** Whether `subject` has all that `other` has: only then may he become the other, or give away what makes one so. */
export function holdsAllOf(policy: Policy, subject: Subject, other: Subject): boolean {
  const isHeldIn = (namespace: string | undefined, grants: readonly Grant[]): boolean =>
    grants.every((grant) => !isFor(grant, other) || holds(policy, subject, grant.rules ?? [], namespace));
  return (
    isHeldIn(undefined, policy.cluster) &&
    [...policy.byNamespace].every(([namespace, grants]) => isHeldIn(namespace, grants))
  );
}

/** Whether `subject` may see that a namespace exists: it may get something of it, or the namespace itself. */
export function seesNamespace(policy: Policy, subject: Subject, namespace: string): boolean {
  const mayGet = (grants: readonly Grant[], shows: (rule: Rule) => boolean): boolean =>
    grants.some(
      (grant) =>
        isFor(grant, subject) && (grant.rules ?? []).some((rule) => includes(rule.verbs, 'get') && shows(rule)),
    );
  return (
    mayGet(policy.cluster, (rule) => showsNamespace(rule, namespace)) ||
    mayGet(policy.byNamespace.get(namespace) ?? [], (rule) => rule.resources !== null)
  );
}

function showsNamespace(rule: Rule, namespace: string): boolean {
  if (rule.resources?.some((resource) => CORE_RESOURCES.has(resource))) return true;
  const namesIt = rule.resource_names === null || rule.resource_names.includes(namespace);
  return namesIt && includes(rule.resources, 'namespaces');
}

import { type Static, Type } from 'typebox';
import { InvalidResource } from './errors.ts';
import { assertSubname } from './names.ts';
import { ObjectMetaSchema, objectMetaWithDefaults } from './object-meta.ts';
import { listOrNull, optional, textList, textsOf, validator } from './schema.ts';

/** The limit bounds the time to compare a new role with the rights of its author. */
const MAX_RULES = 1_000;
const MAX_TERMS_OF_RULE = 1_000;
const VERBS = new Set('* get list create update delete'.split(' '));

const RuleSchema = Type.Object({
  verbs: optional(textList()),
  resources: optional(textList()),
  resource_names: optional(textList()),
});

const roleFields = { rules: optional(Type.Array(RuleSchema)), metadata: optional(ObjectMetaSchema) };

export const RoleSchema = Type.Object(roleFields, { $id: 'core/v2.Role' });
export const ClusterRoleSchema = Type.Object(roleFields, { $id: 'core/v2.ClusterRole' });

export type Rule = ReturnType<typeof ruleWithDefaults>;
/** A cluster role is a role without a namespace. */
export type Role = ReturnType<typeof roleWithDefaults>;

/** Splits `get,list` into two verbs and drops duplicates. Names are not split. */
function ruleWithDefaults(input: Static<typeof RuleSchema>) {
  return {
    verbs: listOrNull(unique(input.verbs?.flatMap((verbs) => (verbs ?? '').split(',')))),
    resources: listOrNull(unique(input.resources?.flatMap((resources) => (resources ?? '').split(',')))),
    resource_names: listOrNull(unique(textsOf(input.resource_names ?? []))),
  };
}

const unique = (terms: readonly string[] | null | undefined): string[] => [...new Set(terms)];

export function roleWithDefaults(input: Static<typeof RoleSchema>) {
  return { rules: input.rules?.map(ruleWithDefaults) ?? [], metadata: objectMetaWithDefaults(input.metadata) };
}

const validateRole = validator('role', RoleSchema);
const validateClusterRole = validator('cluster-role', ClusterRoleSchema);

/** Validates the shape and sets defaults; does not check the rules. @throws InvalidResource */
export const parseRoleShape = (value: unknown): Role => roleWithDefaults(validateRole(value));

/** Parses a cluster role as `parseRoleShape` parses a role. @throws InvalidResource */
export const parseClusterRoleShape = (value: unknown): Role => roleWithDefaults(validateClusterRole(value));

/** Does not check the resources: unknown ones match nothing. @throws InvalidResource with the rule it breaks */
export function assertRole(role: Role): void {
  assertSubname(role.metadata.name ?? '', 'the Role name');
  if (role.metadata.namespace === undefined) throw new InvalidResource('the Role namespace must be set');
  assertRules(role, 'Role');
}

/** @throws InvalidResource with the rule it breaks */
export function assertClusterRole(role: Role): void {
  assertSubname(role.metadata.name ?? '', 'the ClusterRole name');
  if (role.metadata.namespace !== undefined) throw new InvalidResource('ClusterRole cannot have a namespace');
  assertRules(role, 'ClusterRole');
}

function assertRules({ rules }: Role, kind: string): void {
  if (rules.length === 0) throw new InvalidResource(`a ${kind} must have at least one rule`);
  if (rules.length > MAX_RULES) throw new InvalidResource(`a ${kind} must have at most ${MAX_RULES} rules`);
  for (const { verbs, resources, resource_names: names } of rules) {
    const terms = [verbs, resources, names].reduce((sum, list) => sum + (list?.length ?? 0), 0);
    if (terms <= MAX_TERMS_OF_RULE) continue;
    throw new InvalidResource(`a rule must have at most ${MAX_TERMS_OF_RULE} verbs, resources and names`);
  }
  for (const verb of rules.flatMap(({ verbs }) => verbs ?? [])) {
    if (!VERBS.has(verb)) throw new InvalidResource(`the verb "${verb}" is not valid`);
  }
}

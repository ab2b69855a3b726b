import { type Static, Type } from 'typebox';
import { InvalidResource } from './errors.ts';
import { assertSubname } from './names.ts';
import { ObjectMetaSchema, objectMetaWithDefaults } from './object-meta.ts';
import { listOrNull, optional, textList, validator } from './schema.ts';

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

function ruleWithDefaults(input: Static<typeof RuleSchema>) {
  return {
    verbs: input.verbs ?? [],
    resources: input.resources ?? [],
    resource_names: listOrNull(input.resource_names),
  };
}

export function roleWithDefaults(input: Static<typeof RoleSchema>) {
  return { rules: input.rules?.map(ruleWithDefaults) ?? [], metadata: objectMetaWithDefaults(input.metadata) };
}

const validateRole = validator(RoleSchema);
const validateClusterRole = validator(ClusterRoleSchema);

/** @throws InvalidResource */
export function parseRole(value: unknown): Role {
  const role = roleWithDefaults(validateRole(value));
  assertSubname(role.metadata.name ?? '', 'the Role name');
  if (role.metadata.namespace === undefined) throw new InvalidResource('the Role namespace must be set');
  return role;
}

/** @throws InvalidResource */
export function parseClusterRole(value: unknown): Role {
  const role = roleWithDefaults(validateClusterRole(value));
  assertSubname(role.metadata.name ?? '', 'the ClusterRole name');
  if (role.metadata.namespace !== undefined) throw new InvalidResource('the ClusterRole namespace must not be set');
  return role;
}

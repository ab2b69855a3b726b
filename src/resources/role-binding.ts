import { type Static, Type } from 'typebox';
import { InvalidResource } from './errors.ts';
import { assertSubname } from './names.ts';
import { ObjectMetaSchema, objectMetaWithDefaults } from './object-meta.ts';
import { optional, text, validator } from './schema.ts';

const bindingFields = {
  subjects: optional(Type.Array(Type.Object({ type: optional(text('User or Group')), name: optional(text()) }))),
  role_ref: optional(Type.Object({ type: optional(text('Role or ClusterRole')), name: optional(text()) })),
  metadata: optional(ObjectMetaSchema),
};

export const RoleBindingSchema = Type.Object(bindingFields, { $id: 'core/v2.RoleBinding' });
export const ClusterRoleBindingSchema = Type.Object(bindingFields, { $id: 'core/v2.ClusterRoleBinding' });

/** A cluster role binding is a role binding without a namespace. */
export type RoleBinding = ReturnType<typeof roleBindingWithDefaults>;

/** Capitalises the type: `user` becomes `User`. */
const capitalized = (type: string | null | undefined): string =>
  type ? type.charAt(0).toUpperCase() + type.slice(1) : '';

export function roleBindingWithDefaults(input: Static<typeof RoleBindingSchema>) {
  return {
    subjects: input.subjects?.map(({ type, name }) => ({ type: capitalized(type), name: name ?? '' })) ?? [],
    role_ref: { type: capitalized(input.role_ref?.type), name: input.role_ref?.name ?? '' },
    metadata: objectMetaWithDefaults(input.metadata),
  };
}

const validateBinding = validator('role-binding', RoleBindingSchema);
const validateClusterBinding = validator('cluster-role-binding', ClusterRoleBindingSchema);

/** Validates the shape and sets defaults; does not check the rules. @throws InvalidResource */
export const parseRoleBindingShape = (value: unknown): RoleBinding => roleBindingWithDefaults(validateBinding(value));

/** Parses a cluster role binding as `parseRoleBindingShape` parses a role binding. @throws InvalidResource */
export const parseClusterRoleBindingShape = (value: unknown): RoleBinding =>
  roleBindingWithDefaults(validateClusterBinding(value));

/** Does not check that the role exists. @throws InvalidResource with the rule it breaks */
export function assertRoleBinding(binding: RoleBinding): void {
  assertSubname(binding.metadata.name ?? '', 'the RoleBinding name');
  if (binding.metadata.namespace === undefined) throw new InvalidResource('the RoleBinding namespace must be set');
  assertBinding(binding, 'RoleBinding');
}

/** @throws InvalidResource with the rule it breaks */
export function assertClusterRoleBinding(binding: RoleBinding): void {
  assertSubname(binding.metadata.name ?? '', 'the ClusterRoleBinding name');
  if (binding.metadata.namespace !== undefined) {
    throw new InvalidResource('ClusterRoleBinding cannot have a namespace');
  }
  assertBinding(binding, 'ClusterRoleBinding');
  if (binding.role_ref.type === 'Role') {
    throw new InvalidResource('a ClusterRoleBinding must refer to a ClusterRole: a Role belongs to one namespace');
  }
}

function assertBinding({ role_ref: role, subjects }: RoleBinding, kind: string): void {
  if (role.type !== 'Role' && role.type !== 'ClusterRole') {
    throw new InvalidResource(`roleRef type "${role.type}" is invalid, expected either "ClusterRole" or "Role"`);
  }
  if (role.name === '') throw new InvalidResource(`roleRef name for ${role.type} is required`);
  if (subjects.length === 0) throw new InvalidResource(`a ${kind} must have at least one subject`);
  for (const { type, name } of subjects) {
    if (type !== 'User' && type !== 'Group') {
      throw new InvalidResource(`subject type "${type}" is invalid, expected either "Group" or "User"`);
    }
    if (name === '') throw new InvalidResource(`subject name for the "${type}" type is required`);
  }
}

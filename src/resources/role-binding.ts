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

export function roleBindingWithDefaults(input: Static<typeof RoleBindingSchema>) {
  return {
    subjects: input.subjects?.map((subject) => ({ type: subject.type ?? '', name: subject.name ?? '' })) ?? [],
    role_ref: { type: input.role_ref?.type ?? '', name: input.role_ref?.name ?? '' },
    metadata: objectMetaWithDefaults(input.metadata),
  };
}

const validateBinding = validator(RoleBindingSchema);
const validateClusterBinding = validator(ClusterRoleBindingSchema);

function assertBinding(binding: RoleBinding, kind: string): void {
  assertSubname(binding.metadata.name ?? '', `the ${kind} name`);
  if (binding.role_ref.type === '' || binding.role_ref.name === '') {
    throw new InvalidResource(`a ${kind} needs a roleRef`);
  }
  if (binding.subjects.length === 0) throw new InvalidResource(`a ${kind} must have at least one subject`);
}

/** @throws InvalidResource */
export function parseRoleBinding(value: unknown): RoleBinding {
  const binding = roleBindingWithDefaults(validateBinding(value));
  assertBinding(binding, 'RoleBinding');
  if (binding.metadata.namespace === undefined) throw new InvalidResource('the RoleBinding namespace must be set');
  return binding;
}

/** @throws InvalidResource */
export function parseClusterRoleBinding(value: unknown): RoleBinding {
  const binding = roleBindingWithDefaults(validateClusterBinding(value));
  assertBinding(binding, 'ClusterRoleBinding');
  if (binding.metadata.namespace !== undefined) {
    throw new InvalidResource('the ClusterRoleBinding namespace must not be set');
  }
  return binding;
}

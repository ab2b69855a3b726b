import { Type } from 'typebox';
import { assertName } from './names.ts';
import { optional, text, validator } from './schema.ts';

/** The namespace in which the backend monitors itself. */
export const SYSTEM_NAMESPACE = 'mon-system';

export const NamespaceSchema = Type.Object({ name: optional(text()) }, { $id: 'core/v2.Namespace' });

export interface Namespace {
  name: string;
}

const validateShape = validator('namespace', NamespaceSchema);

/** Validates the shape and sets defaults. @throws InvalidResource */
export function parseNamespaceShape(value: unknown): Namespace {
  return { name: validateShape(value).name ?? '' };
}

/** @throws InvalidResource */
export function assertNamespace(namespace: Namespace): void {
  assertName(namespace.name, 'namespace name');
}

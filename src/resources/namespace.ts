import { Type } from 'typebox';
import { assertName } from './names.ts';
import { optional, text, validator } from './schema.ts';

/** The backend's own namespace: it monitors itself there. */
export const SYSTEM_NAMESPACE = 'mon-system';

export const NamespaceSchema = Type.Object({ name: optional(text()) }, { $id: 'core/v2.Namespace' });

export interface Namespace {
  name: string;
}

const validateShape = validator(NamespaceSchema);

/** Shape and defaults only. @throws InvalidResource */
export function parseNamespaceShape(value: unknown): Namespace {
  return { name: validateShape(value).name ?? '' };
}

/** @throws InvalidResource */
export function assertNamespace(namespace: Namespace): void {
  assertName(namespace.name, 'namespace name');
}

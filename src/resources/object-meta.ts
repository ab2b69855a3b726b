import { type Static, Type } from 'typebox';
import { optional, orAbsent, text, textMap } from './schema.ts';

export const ObjectMetaSchema = Type.Object({
  name: optional(text()),
  namespace: optional(text()),
  labels: optional(textMap()),
  annotations: optional(textMap()),
  created_by: optional(text('name of the user who wrote the object')),
});

type ObjectMetaInput = Static<typeof ObjectMetaSchema> | null | undefined;
type TextMap = Record<string, string>;

export interface ObjectMeta {
  name: string | undefined;
  namespace: string | undefined;
  labels: TextMap | undefined;
  annotations: TextMap | undefined;
  created_by: string | undefined;
}

/** Returns undefined for an empty map and replaces `null` values by empty strings. Keys stay unchanged, including `__proto__`. */
export function mapWithDefaults(map: Record<string, string | null> | null | undefined): TextMap | undefined {
  if (!map) return undefined;
  let isEmpty = true;
  for (const key in map) {
    if (map[key] === null) return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, value ?? '']));
    isEmpty = false;
  }
  return isEmpty ? undefined : (map as TextMap);
}

export function objectMetaWithDefaults(meta: ObjectMetaInput): ObjectMeta {
  return {
    name: orAbsent(meta?.name),
    namespace: orAbsent(meta?.namespace),
    labels: mapWithDefaults(meta?.labels),
    annotations: mapWithDefaults(meta?.annotations),
    created_by: orAbsent(meta?.created_by),
  };
}

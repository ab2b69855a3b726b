import type { ObjectMeta } from '../resources/object-meta.ts';

/** Custom attributes that are not labels are stored in annotations with this prefix, as JSON. */
const PREFIX = 'mon.io/earlier/';
/** Source: Limits, "label keys". */
const LABEL_KEY = /^[A-Za-z]\w*$/;

/** Returns the annotation that stores a custom attribute as JSON. */
export const annotationOf = (attribute: string): string => PREFIX + attribute;

/**
 * Returns labels and annotations that store the custom attributes of a client or a result of the first generation. Strings
 * become labels if their key can be a label; everything else becomes JSON in an annotation.
 */
export function customToMetadata(custom: Readonly<Record<string, unknown>>): {
  labels: Record<string, string>;
  annotations: Record<string, string>;
} {
  const labels: [string, string][] = [];
  const annotations: [string, string][] = [];
  for (const [key, value] of Object.entries(custom)) {
    if (value === undefined) continue;
    if (typeof value === 'string' && LABEL_KEY.test(key)) labels.push([key, value]);
    else annotations.push([annotationOf(key), JSON.stringify(value)]);
  }
  return { labels: Object.fromEntries(labels), annotations: Object.fromEntries(annotations) };
}

/** Returns the custom attributes that labels and annotations store. An annotation that is not JSON is shown as text. */
export function customOf({ labels, annotations }: Pick<ObjectMeta, 'labels' | 'annotations'>): Record<string, unknown> {
  const custom: [string, unknown][] = Object.entries(labels ?? {});
  for (const [key, value] of Object.entries(annotations ?? {})) {
    if (key.startsWith(PREFIX)) custom.push([key.slice(PREFIX.length), decoded(value)]);
  }
  return Object.fromEntries(custom);
}

function decoded(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

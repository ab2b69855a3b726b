import { InvalidResource } from './errors.ts';
import type { ObjectMeta } from './object-meta.ts';

/** Labels and annotations of one resource, together. */
const MAX_META_ENTRIES = 1_000;
/** Bytes of their keys and values in UTF-8, together. */
const MAX_META_BYTES = 262_144;
/** No UTF-16 unit takes more bytes in UTF-8. */
const MAX_BYTES_PER_UNIT = 3;

const encoder = new TextEncoder();

type Bounded = Pick<ObjectMeta, 'labels' | 'annotations'>;

/**
 * Applies to what is written, not to what is read: resources that were stored before the bounds stay readable.
 * @throws InvalidResource
 */
export function assertMetaBounds({ labels, annotations }: Bounded): void {
  if (labels === undefined && annotations === undefined) return;
  const size = { entries: 0, units: 0 };
  measure(labels, size);
  measure(annotations, size);
  if (size.entries > MAX_META_ENTRIES) {
    throw new InvalidResource(`metadata must have at most ${MAX_META_ENTRIES} labels and annotations together`);
  }
  if (size.units * MAX_BYTES_PER_UNIT <= MAX_META_BYTES) return;
  if (size.units > MAX_META_BYTES || bytesOf(labels) + bytesOf(annotations) > MAX_META_BYTES) {
    throw new InvalidResource(
      `labels and annotations of metadata must be at most ${MAX_META_BYTES} bytes together, keys and values`,
    );
  }
}

/** Returns the metadata with the first labels, and then annotations, that fit the bounds. They were stored before the bounds if some do not. */
export function withinMetaBounds<M extends Bounded>(metadata: M): M {
  try {
    assertMetaBounds(metadata);
    return metadata;
  } catch (error) {
    if (!(error instanceof InvalidResource)) throw error;
  }
  const left = { entries: MAX_META_ENTRIES, bytes: MAX_META_BYTES };
  return { ...metadata, labels: fitting(metadata.labels, left), annotations: fitting(metadata.annotations, left) };
}

function fitting(map: Bounded['labels'], left: { entries: number; bytes: number }): Bounded['labels'] {
  const kept: [string, string][] = [];
  for (const [key, value] of Object.entries(map ?? {})) {
    left.entries -= 1;
    left.bytes -= bytesOf({ [key]: value });
    if (left.entries < 0 || left.bytes < 0) break;
    kept.push([key, value]);
  }
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** Adds the entries of a map and their UTF-16 units. Runs for each event, so it allocates nothing. */
function measure(map: Bounded['labels'], size: { entries: number; units: number }): void {
  for (const key in map) {
    size.entries += 1;
    if (size.entries > MAX_META_ENTRIES) return;
    size.units += key.length + (map[key] as string).length;
  }
}

const bytesOf = (map: Bounded['labels'] = {}): number =>
  Object.entries(map).reduce((sum, [key, value]) => sum + encoder.encode(key).length + encoder.encode(value).length, 0);

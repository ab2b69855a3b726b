import { setImmediate as nextTick } from 'node:timers/promises';
import type { Answer } from '../request/route.ts';

/** A page ends at this size, whatever its limit. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
/** A page ends after this many slices. Each slice is read at once; other requests are served between two slices. */
const MAX_PAGE_SLICES = 50;

/** A part of a list that is read at once: items with their positions, and where the next slice begins. */
export interface Slice {
  items: { position: string; item: object }[];
  position: string | undefined;
}

/** Reads one page of a list. A page that ends after `MAX_PAGE_SLICES` may have few items or none, and another page follows. */
export async function slicedPage(
  slice: (after: string | undefined, limit: number) => Slice,
  { after, limit }: { after: string | undefined; limit: number },
  isDisconnected: () => boolean,
): Promise<Answer> {
  const texts: string[] = [];
  let bytes = 0;
  let position = after;
  for (let slices = 0; slices < MAX_PAGE_SLICES && !isDisconnected(); slices += 1) {
    if (slices > 0) await nextTick();
    // One item more than the page returns shows whether another page follows.
    const read = slice(position, limit + 1 - texts.length);
    for (const { position: next, item } of read.items) {
      if (texts.length >= limit || bytes >= MAX_PAGE_BYTES) return page(texts, position);
      const text = JSON.stringify(item);
      texts.push(text);
      bytes += Buffer.byteLength(text);
      position = next;
    }
    if (read.position === undefined) return page(texts, undefined);
    position = read.position;
  }
  return page(texts, position);
}

/** `texts` are JSON. */
const page = (texts: readonly string[], position: string | undefined): Answer => ({
  status: 200,
  type: 'application/json',
  body: `[${texts.join(',')}]`,
  ...(position === undefined ? {} : { headers: { 'Sensu-Continue': position } }),
});

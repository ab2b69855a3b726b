import { createHmac, hkdfSync } from 'node:crypto';
import type { Answer } from '../request/route.ts';

const PURPOSE = 'entity tags';
const KEY_BYTES = 32;
const TAG_HEX_DIGITS = 16;

/**
 * Computes entity tags of stored objects. Equal objects have equal tags, regardless of how much of them the caller may
 * see. The tags are keyed, so a client cannot guess hidden fields by comparing tags. The key derives from the secret of
 * the store, so tags survive a restart.
 */
export class EntityTags {
  readonly #key: Uint8Array;

  constructor(secret: Uint8Array) {
    this.#key = new Uint8Array(hkdfSync('sha256', secret, new Uint8Array(), PURPOSE, KEY_BYTES));
  }

  of(stored: object): string {
    return this.ofJson(JSON.stringify(stored));
  }

  ofJson(json: string): string {
    return `"${createHmac('sha256', this.#key).update(json).digest('hex').slice(0, TAG_HEX_DIGITS)}"`;
  }
}

/** Responds with one object and the entity tag of its stored form, even where the response hides or adds fields. */
export function taggedJson(stored: object, shown: object = stored): Answer {
  const storedJson = JSON.stringify(stored);
  return {
    status: 200,
    type: 'application/json',
    body: shown === stored ? storedJson : JSON.stringify(shown),
    tagSource: storedJson,
  };
}

import { createHmac, hkdfSync } from 'node:crypto';
import type { Answer } from '../request/route.ts';

const PURPOSE = 'entity tags';
const KEY_BYTES = 32;
const TAG_HEX_DIGITS = 16;

/**
 * Tags of what is stored, the same for what is stored alike, whoever is shown how much of it. They are made with a key: nobody else
 * can try what a hidden part might be until the tag fits. The key is the secret's, so that tags outlive a restart.
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

/** A single object, to be sent with its tag. The tag is of what is stored, also where the answer hides parts of it or adds some. */
export function taggedJson(stored: object, shown: object = stored): Answer {
  const storedJson = JSON.stringify(stored);
  return {
    status: 200,
    type: 'application/json',
    body: shown === stored ? storedJson : JSON.stringify(shown),
    taggedAs: storedJson,
  };
}

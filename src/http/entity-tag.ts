import { hash } from 'node:crypto';
import type { Answer } from './route.ts';

const TAG_HEX_DIGITS = 16;

/** A single object with its tag. The tag is of what is stored, also where the answer hides parts of it. */
export function taggedJson(stored: object, shown: object = stored): Answer {
  const storedJson = JSON.stringify(stored);
  const tag = hash('sha256', storedJson, 'hex').slice(0, TAG_HEX_DIGITS);
  return {
    status: 200,
    type: 'application/json',
    body: shown === stored ? storedJson : JSON.stringify(shown),
    headers: { ETag: `"${tag}"` },
  };
}

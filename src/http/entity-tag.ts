import { hash } from 'node:crypto';
import type { Answer } from './route.ts';

const TAG_HEX_DIGITS = 16;

/** The same for what is stored alike, whoever is shown how much of it. */
export const entityTag = (stored: object): string => tagOfJson(JSON.stringify(stored));

/** A single object with its tag. The tag is of what is stored, also where the answer hides parts of it or adds some. */
export function taggedJson(stored: object, shown: object = stored): Answer {
  const storedJson = JSON.stringify(stored);
  return {
    status: 200,
    type: 'application/json',
    body: shown === stored ? storedJson : JSON.stringify(shown),
    headers: { ETag: tagOfJson(storedJson) },
  };
}

const tagOfJson = (json: string): string => `"${hash('sha256', json, 'hex').slice(0, TAG_HEX_DIGITS)}"`;

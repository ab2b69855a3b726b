import { hash } from 'node:crypto';

/** What is stored in place of an API key; the key cannot be told from either. */
export interface ApiKeyDigest {
  /** A UUID, under which the key is stored and shown. */
  name: string;
  /** Hexadecimal. */
  hash: string;
}

/** Of a key of 122 random bits, which needs no slow hash. The same key always has the same name: it is looked up by it. */
export function digestApiKey(key: string): ApiKeyDigest {
  return { name: uuidOf(hash('sha256', `name of ${key}`, 'hex')), hash: hash('sha256', key, 'hex') };
}

/** Version 8: a UUID whose bits its maker chose. Source: RFC 9562. */
const uuidOf = (hex: string): string =>
  [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-');

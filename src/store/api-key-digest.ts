import { hash } from 'node:crypto';

/** The stored form of an API key. The key cannot be derived from either value. */
export interface ApiKeyDigest {
  /** The UUID under which the key is stored and shown. */
  name: string;
  /** SHA-256 in hexadecimal. */
  hash: string;
}

/** Digests a key. A key has 122 random bits and needs no slow hash. The same key always has the same name, by which it is looked up. */
export function digestApiKey(key: string): ApiKeyDigest {
  return { name: uuidOf(hash('sha256', `name of ${key}`, 'hex')), hash: hash('sha256', key, 'hex') };
}

/** Makes a UUID of version 8, whose bits are chosen by its creator. Source: RFC 9562. */
const uuidOf = (hex: string): string =>
  [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-');

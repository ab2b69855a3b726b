import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { ConfigError, type Mistake } from '../../config/parsing/flags.ts';
import type { KeyPairFiles, NamedFile } from '../../config/flags/tls-flags.ts';

/** Four times the size of a bundle with all common authorities. */
const MAX_PEM_BYTES = 1024 * 1024;
/** The mode bits of group and others. */
const GROUP_AND_OTHERS = 0o077;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** PEM texts. */
export interface KeyPair {
  cert: string;
  key: string;
}

/** Creates the error of a file, which names the flag of the file. */
export const fileError = ({ flag, path }: NamedFile, reason: string): ConfigError =>
  new ConfigError([{ flag, rule: `--${flag} ${path}: ${reason}` }]);

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Creates all parts. @throws ConfigError with the mistakes of all parts */
export function together<T extends object>(parts: { [Part in keyof T]: () => T[Part] }): T {
  const mistakes: Mistake[] = [];
  const made = Object.entries<() => unknown>(parts).map(([name, make]) => {
    try {
      return [name, make()];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      mistakes.push(...error.mistakes);
      return [name, undefined];
    }
  });
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return Object.fromEntries(made) as T;
}

/** Reads a file with at least one certificate. @throws ConfigError */
export function readCertificates(file: NamedFile): string {
  const text = textOf(file);
  const blocks = text.match(CERTIFICATE) ?? [];
  if (blocks.length === 0) throw fileError(file, 'holds no certificate in PEM');
  for (const [index, block] of blocks.entries()) {
    attempt(file, `certificate ${index + 1} cannot be read`, () => new X509Certificate(block));
  }
  return text;
}

/**
 * Reads a certificate and its key. Only the owner may have access to the key, unless `sharedKey` takes the text about that.
 * @throws ConfigError
 */
export function readKeyPair({ cert, key }: KeyPairFiles, sharedKey?: (text: string) => void): KeyPair {
  const pair = together<KeyPair>({ cert: () => readCertificates(cert), key: () => readKey(key, sharedKey) });
  if (!leafOf(pair.cert).checkPrivateKey(keyOf(key, pair.key))) {
    throw fileError(key, `does not belong to the certificate ${cert.path}`);
  }
  return pair;
}

/** The first certificate, to which the key belongs. */
export const leafOf = (pem: string): X509Certificate => new X509Certificate(pem);

/** Reads a file that only its owner may access. @throws ConfigError */
export const readPrivateKey = (file: NamedFile): KeyObject => keyOf(file, readKey(file));

function readKey(file: NamedFile, sharedKey?: (text: string) => void): string {
  const pem = textOf(file);
  const mode = statSync(file.path).mode & 0o777;
  if ((mode & GROUP_AND_OTHERS) !== 0) {
    const text = `others than its owner may use the key, its mode is 0${mode.toString(8)}: make it 0600`;
    if (sharedKey === undefined) throw fileError(file, text);
    sharedKey(text);
  }
  keyOf(file, pem);
  return pem;
}

const keyOf = (file: NamedFile, text: string): KeyObject =>
  attempt(file, 'holds no private key without a passphrase in PEM', () => createPrivateKey(text));

/** @throws ConfigError */
export function textOf(file: NamedFile): string {
  return attempt(file, 'cannot be read', () => {
    const status = statSync(file.path);
    // Reading from a pipe could block forever.
    if (!status.isFile()) throw new Error('is not a file');
    if (status.size > MAX_PEM_BYTES) throw new Error(`is larger than ${MAX_PEM_BYTES} bytes`);
    return readFileSync(file.path, 'utf8');
  });
}

/** @throws ConfigError */
export function attempt<T>(file: NamedFile, what: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw fileError(file, `${what}: ${reasonOf(error)}`);
  }
}

import { createPublicKey, type KeyObject } from 'node:crypto';
import type { NamedFile } from '../../config/flags/tls-flags.ts';
import type { TokenKeyFiles } from '../../config/flags/token-flags.ts';
import { type EllipticAlgorithm, type EllipticKeys } from '../../auth/access-tokens.ts';
import { attempt, fileError, readPrivateKey, textOf, together } from './tls-files.ts';

/** The algorithms by OpenSSL's name of the curve. */
const ALGORITHMS: ReadonlyMap<string, EllipticAlgorithm> = new Map([
  ['prime256v1', 'ES256'],
  ['secp384r1', 'ES384'],
  ['secp521r1', 'ES512'],
]);

/** Reads the keys that sign and verify access tokens. @throws ConfigError unless they are a pair of a supported curve */
export function readTokenKeys(files: TokenKeyFiles): EllipticKeys {
  const { privateKey, publicKey } = together<{ privateKey: KeyObject; publicKey: KeyObject }>({
    privateKey: () => readPrivateKey(files.privateKey),
    publicKey: () => readPublicKey(files.publicKey),
  });
  const algorithm = algorithmOf(files.privateKey, privateKey);
  if (!createPublicKey(privateKey).equals(publicKey)) {
    throw fileError(files.publicKey, `does not belong to the key ${files.privateKey.path}`);
  }
  return { algorithm, privateKey, publicKey };
}

function algorithmOf(file: NamedFile, { asymmetricKeyDetails }: KeyObject): EllipticAlgorithm {
  const algorithm = ALGORITHMS.get(asymmetricKeyDetails?.namedCurve ?? '');
  if (algorithm === undefined) throw fileError(file, 'must be a key of curve P-256, P-384 or P-521');
  return algorithm;
}

/** Rejects a private key, which `createPublicKey` would accept: a file that others may read must not contain one. */
function readPublicKey(file: NamedFile): KeyObject {
  const text = textOf(file);
  if (text.includes('PRIVATE KEY-----')) throw fileError(file, 'holds a private key');
  return attempt(file, 'holds no public key in PEM', () => createPublicKey(text));
}

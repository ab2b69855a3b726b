import { InvalidResource } from '../resources/errors.ts';
import type { SentPassword } from '../resources/user.ts';
import type { PasswordHasher } from './credentials.ts';

const MIN_PASSWORD_BYTES = 8;
/** A costlier hash would occupy a thread for seconds. */
const MAX_BCRYPT_COST = 14;
const BCRYPT = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;
const MIN_BCRYPT_COST = 4;

/** The hash to store for a password sent in clear text, as a hash, or as both. @throws InvalidResource, Overloaded */
export async function hashForStorage(sent: SentPassword, hasher: PasswordHasher): Promise<string> {
  const { password, passwordHash } = sent;
  if (password === '') return validatedBcrypt(passwordHash);
  if (passwordHash !== '') {
    const isRight = isBcrypt(passwordHash) && (await hasher.matches(password, passwordHash));
    if (isRight) return passwordHash;
    throw new InvalidResource(
      'hashed password does not the match the cleartext password, only one of those should be provided',
    );
  }
  if (Buffer.byteLength(password) < MIN_PASSWORD_BYTES) {
    throw new InvalidResource(`password length must be at least ${MIN_PASSWORD_BYTES} characters`);
  }
  return hasher.hash(password);
}

/** @throws InvalidResource unless it is a bcrypt hash of an accepted cost */
export function validatedBcrypt(passwordHash: string): string {
  if (passwordHash === '') throw new InvalidResource('a password or its hash is required');
  if (!isBcrypt(passwordHash)) {
    throw new InvalidResource(`password_hash must be a bcrypt hash of cost ${MIN_BCRYPT_COST} to ${MAX_BCRYPT_COST}`);
  }
  return passwordHash;
}

function isBcrypt(text: string): boolean {
  const cost = Number(BCRYPT.exec(text)?.[1]);
  return cost >= MIN_BCRYPT_COST && cost <= MAX_BCRYPT_COST;
}

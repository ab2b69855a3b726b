import { createHmac, randomBytes } from 'node:crypto';
import { hash as hashBcrypt, verify as verifyBcrypt } from '@node-rs/bcrypt';
import { LRUCache } from 'lru-cache';
import { atMost } from '../ports/at-most.ts';
import type { QueueStats } from '../ports/queue-stats.ts';
import { Overloaded } from '../resources/errors.ts';
import { isName } from '../resources/names.ts';
import type { User } from '../resources/user.ts';
import type { ResourceStore } from '../store/resource-store.ts';

/**
 * Cached credentials with a verified password. Past this number the least recently used ones are evicted and hashed
 * again.
 */
const MAX_REMEMBERED_CREDENTIALS = 10_000;
/** Hashing shares its threads with the commits of the store, so logins must not occupy all of them. */
const MAX_CONCURRENT_VERIFICATIONS = 2;
/** About four seconds of hashing. Further logins are rejected. */
const MAX_WAITING_VERIFICATIONS = 128;
/** Running or waiting, so that a password guesser at one account leaves room for the logins of other users. */
const MAX_VERIFICATIONS_OF_USER = 10;
const BCRYPT_COST = 10;
/** Hash of a random text at the usual cost, so that an unknown user takes as long as a wrong password. */
const DUMMY_HASH = '$2b$10$SjlaezPMrFO/mRFxxe.VGuA5MrFVhzkoV0nGSjHHPUKyykmKJ4XkO';

/** Hashes a password for storage. bcrypt uses its first 72 bytes only. */
export const hashPassword = (password: string, cost = BCRYPT_COST): Promise<string> => hashBcrypt(password, { cost });

const costOf = (passwordHash: string): number => Number(passwordHash.slice(4, 6));

/** Slow by design; runs off the event loop. */
export type VerifyHash = (password: string, passwordHash: string) => Promise<boolean>;

/** Verifies a user name and a password. The agent port and the login share one verifier. */
export interface CredentialVerifier {
  /**
   * Returns the user, or undefined when the user is unknown or disabled or the password is wrong. It calls `onGuess`
   * before it returns when the attempt is a guess: a password that is neither cached nor being verified. A guess costs
   * one hash, whether the user exists or not.
   * @throws Overloaded
   */
  verify(username: string, password: string, onGuess?: () => void): Promise<User | undefined>;
}

/** Hashes passwords. Shares its slots with the logins, so that neither occupies all threads. */
export interface PasswordHasher {
  /** Hashes a password for storage. @throws Overloaded */
  hash(password: string): Promise<string>;
  /** @throws Overloaded */
  matches(password: string, passwordHash: string): Promise<boolean>;
}

/**
 * Verifies passwords off the event loop and caches successful verifications. The cache key is a keyed hash that
 * includes the stored hash, so a changed password invalidates it at once. The user is read from the store each time.
 */
export class Credentials implements CredentialVerifier, PasswordHasher {
  readonly #resources: Pick<ResourceStore, 'get'>;
  readonly #verifyHash: VerifyHash;
  readonly #cost: number | undefined;
  readonly #processKey = randomBytes(32);
  readonly #verified = new LRUCache<string, true>(atMost(MAX_REMEMBERED_CREDENTIALS));
  /** Verifications in progress: identical credentials sent by many agents at once are hashed once. */
  readonly #inFlight = new Map<string, Promise<boolean>>();
  /** Number of verifications in progress for each user. */
  readonly #countByUser = new Map<string, number>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #refused = 0;

  /** `cost` is that of the hashes of new passwords. */
  constructor(resources: Pick<ResourceStore, 'get'>, verifyHash: VerifyHash = verifyBcrypt, cost?: number) {
    this.#resources = resources;
    this.#verifyHash = verifyHash;
    this.#cost = cost;
  }

  /** Cached credentials. */
  get remembered(): QueueStats {
    return { used: this.#verified.size, limit: MAX_REMEMBERED_CREDENTIALS };
  }

  get running(): QueueStats {
    return { used: this.#running, limit: MAX_CONCURRENT_VERIFICATIONS };
  }

  /** Hash operations that wait for a slot. */
  get waiting(): QueueStats {
    return { used: this.#waiting.length, limit: MAX_WAITING_VERIFICATIONS, refused: this.#refused };
  }

  async verify(username: string, password: string, onGuess?: () => void): Promise<User | undefined> {
    if (password === '') return undefined;
    const user = isName(username) ? this.#resources.get('users', undefined, username) : undefined;
    const hash = user === undefined || user.password_hash === '' ? DUMMY_HASH : user.password_hash;
    const digest = this.#digest(username, password, hash);
    if (this.#verified.get(digest) === true) return user?.disabled === true ? undefined : user;
    if (!this.#inFlight.has(digest)) onGuess?.();
    const isRight = await this.#verifyOnce(digest, () =>
      this.#withUserSlot(username, () => this.#compare(password, hash)),
    );
    if (!isRight || hash === DUMMY_HASH) return undefined;
    this.#verified.set(digest, true);
    return this.#stillEnabled(username, hash);
  }

  /** Reads the user again, because it may have changed while the password was hashed. */
  #stillEnabled(username: string, hash: string): User | undefined {
    const user = this.#resources.get('users', undefined, username);
    return user === undefined || user.disabled || user.password_hash !== hash ? undefined : user;
  }

  #digest(username: string, password: string, hash: string): string {
    return createHmac('sha256', this.#processKey)
      .update(JSON.stringify([username, password, hash]))
      .digest('base64');
  }

  #verifyOnce(digest: string, verify: () => Promise<boolean>): Promise<boolean> {
    const inFlight = this.#inFlight.get(digest);
    if (inFlight !== undefined) return inFlight;
    const verification = verify().finally(() => this.#inFlight.delete(digest));
    this.#inFlight.set(digest, verification);
    return verification;
  }

  async #withUserSlot<T>(username: string, work: () => Promise<T>): Promise<T> {
    const count = this.#countByUser.get(username) ?? 0;
    if (count >= MAX_VERIFICATIONS_OF_USER) this.#reject('too many logins of this user at once');
    this.#countByUser.set(username, count + 1);
    try {
      return await this.#withSlot(work);
    } finally {
      const left = (this.#countByUser.get(username) ?? 0) - 1;
      if (left > 0) this.#countByUser.set(username, left);
      else this.#countByUser.delete(username);
    }
  }

  /** Compares twice against a cheap hash, whose shorter time would reveal that the user exists. */
  async #compare(password: string, hash: string): Promise<boolean> {
    const isRight = await this.#verifyHash(password, hash);
    if (!isRight && costOf(hash) < BCRYPT_COST) await this.#verifyHash(password, DUMMY_HASH);
    return isRight;
  }

  hash(password: string): Promise<string> {
    return this.#withSlot(() => hashPassword(password, this.#cost));
  }

  matches(password: string, passwordHash: string): Promise<boolean> {
    return this.#withSlot(() => this.#verifyHash(password, passwordHash));
  }

  async #withSlot<T>(work: () => Promise<T>): Promise<T> {
    await this.#acquireSlot();
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  /** Resolves when this operation may run. The one that finishes before it hands over its slot. */
  async #acquireSlot(): Promise<void> {
    if (this.#running < MAX_CONCURRENT_VERIFICATIONS) {
      this.#running += 1;
      return;
    }
    if (this.#waiting.length >= MAX_WAITING_VERIFICATIONS) {
      this.#reject('too many logins at once');
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #reject(why: string): never {
    this.#refused += 1;
    throw new Overloaded(why);
  }
}

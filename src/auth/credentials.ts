import { createHmac, randomBytes } from 'node:crypto';
import { hash as hashBcrypt, verify as verifyBcrypt } from '@node-rs/bcrypt';
import { LRUCache } from 'lru-cache';
import type { QueueStats } from '../ports/queue-stats.ts';
import { Overloaded } from '../resources/errors.ts';
import { isName } from '../resources/names.ts';
import type { User } from '../resources/user.ts';
import type { ResourceStore } from '../store/resource-store.ts';

/** Verified credentials that are remembered; the least recently used is verified anew. */
const MAX_REMEMBERED_CREDENTIALS = 10_000;
/** Hashing shares its threads with the store's commits: logins must not hold them all. */
const MAX_CONCURRENT_VERIFICATIONS = 2;
/** Some four seconds of hashing; beyond it logins are refused. */
const MAX_WAITING_VERIFICATIONS = 128;
/** Running or waiting: who guesses at one account, or at his own, leaves room for the logins of others. */
const MAX_VERIFICATIONS_OF_USER = 10;
const BCRYPT_COST = 10;
/** Of a random text, at the cost of all others: makes an unknown user take as long as a wrong password. */
const HASH_OF_NOBODY = '$2b$10$SjlaezPMrFO/mRFxxe.VGuA5MrFVhzkoV0nGSjHHPUKyykmKJ4XkO';

/** What is stored in place of a password. Only its first 72 bytes count. */
export const hashPassword = (password: string): Promise<string> => hashBcrypt(password, { cost: BCRYPT_COST });

const costOf = (passwordHash: string): number => Number(passwordHash.slice(4, 6));

/** Slow on purpose, and off the event loop. */
export type VerifyHash = (password: string, passwordHash: string) => Promise<boolean>;

/** Whether a user name and password belong together; the agent port and the login use the same one. */
export interface CredentialVerifier {
  /**
   * The user, or undefined when unknown, disabled or of another password. `guessing` is told, before this returns, when it is
   * a guess: one that is not known to be right and is not being verified already. It costs a hash, whether there is the user or not.
   * @throws Overloaded
   */
  verify(username: string, password: string, guessing?: () => void): Promise<User | undefined>;
}

/** Hashes in turn with the logins, so that neither holds all threads. */
export interface PasswordHasher {
  /** What is stored in place of the password. @throws Overloaded */
  hash(password: string): Promise<string>;
  /** @throws Overloaded */
  matches(password: string, passwordHash: string): Promise<boolean>;
}

/**
 * Verifies passwords off the event loop and remembers which were right. What is remembered is a keyed hash that includes
 * the stored hash, so that a changed password voids it at once; the user is read each time.
 */
export class Credentials implements CredentialVerifier, PasswordHasher {
  readonly #resources: Pick<ResourceStore, 'get'>;
  readonly #verifyHash: VerifyHash;
  readonly #processKey = randomBytes(32);
  readonly #verified = new LRUCache<string, true>({ max: MAX_REMEMBERED_CREDENTIALS });
  /** Verifications under way: the same credentials sent by many agents at once are hashed once. */
  readonly #underWay = new Map<string, Promise<boolean>>();
  /** How many of them each user has. */
  readonly #ofUser = new Map<string, number>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #refused = 0;

  constructor(resources: Pick<ResourceStore, 'get'>, verifyHash: VerifyHash = verifyBcrypt) {
    this.#resources = resources;
    this.#verifyHash = verifyHash;
  }

  /** Credentials that are remembered. */
  get remembered(): QueueStats {
    return { used: this.#verified.size, limit: MAX_REMEMBERED_CREDENTIALS };
  }

  get running(): QueueStats {
    return { used: this.#running, limit: MAX_CONCURRENT_VERIFICATIONS };
  }

  /** Hashings that wait for their turn. */
  get waiting(): QueueStats {
    return { used: this.#waiting.length, limit: MAX_WAITING_VERIFICATIONS, refused: this.#refused };
  }

  async verify(username: string, password: string, guessing?: () => void): Promise<User | undefined> {
    if (password === '') return undefined;
    const user = isName(username) ? this.#resources.get('users', undefined, username) : undefined;
    const hash = user === undefined || user.password_hash === '' ? HASH_OF_NOBODY : user.password_hash;
    const digest = this.#digest(username, password, hash);
    if (this.#verified.get(digest) === true) return user?.disabled === true ? undefined : user;
    if (!this.#underWay.has(digest)) guessing?.();
    const isRight = await this.#verifyOnce(digest, () =>
      this.#ofUserInTurn(username, () => this.#compare(password, hash)),
    );
    if (!isRight || hash === HASH_OF_NOBODY) return undefined;
    this.#verified.set(digest, true);
    return this.#stillEnabled(username, hash);
  }

  /** Read again: the user may have been changed while the password was hashed. */
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
    const underWay = this.#underWay.get(digest);
    if (underWay !== undefined) return underWay;
    const verification = verify().finally(() => this.#underWay.delete(digest));
    this.#underWay.set(digest, verification);
    return verification;
  }

  async #ofUserInTurn<T>(username: string, work: () => Promise<T>): Promise<T> {
    const count = this.#ofUser.get(username) ?? 0;
    if (count >= MAX_VERIFICATIONS_OF_USER) this.#refuse('too many logins of this user at once');
    this.#ofUser.set(username, count + 1);
    try {
      return await this.#inTurn(work);
    } finally {
      const left = (this.#ofUser.get(username) ?? 0) - 1;
      if (left > 0) this.#ofUser.set(username, left);
      else this.#ofUser.delete(username);
    }
  }

  /** A hash that is cheaper than others would tell by its time that there is such a user. */
  async #compare(password: string, hash: string): Promise<boolean> {
    const isRight = await this.#verifyHash(password, hash);
    if (!isRight && costOf(hash) < BCRYPT_COST) await this.#verifyHash(password, HASH_OF_NOBODY);
    return isRight;
  }

  hash(password: string): Promise<string> {
    return this.#inTurn(() => hashPassword(password));
  }

  matches(password: string, passwordHash: string): Promise<boolean> {
    return this.#inTurn(() => this.#verifyHash(password, passwordHash));
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    await this.#turn();
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  /** Resolves when this one may run; its place is handed on by the one before. */
  async #turn(): Promise<void> {
    if (this.#running < MAX_CONCURRENT_VERIFICATIONS) {
      this.#running += 1;
      return;
    }
    if (this.#waiting.length >= MAX_WAITING_VERIFICATIONS) {
      this.#refuse('too many logins at once');
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #refuse(why: string): never {
    this.#refused += 1;
    throw new Overloaded(why);
  }
}

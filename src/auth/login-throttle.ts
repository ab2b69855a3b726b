import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { atMost } from '../ports/at-most.ts';
import type { Clock } from '../ports/clock.ts';
import type { QueueStats } from '../ports/queue-stats.ts';
import { TooManyLogins } from '../resources/errors.ts';

/** Wrong guesses at one account: 10 in a row, then one in 30 s, which is 2,890 a day. */
const ACCOUNT = { capacity: 10, refillMs: 30_000 };
/**
 * Wrong guesses from an address where agents of this account have logged in before: one agent with an outdated password
 * must not lock out the others.
 */
const FLEET = { capacity: 1_000, refillMs: 1_000 };
/** Wrong guesses from one address at any account. The limit is higher because several people may share an address. */
const ADDRESS = { capacity: 50, refillMs: 2_000 };
/**
 * Accounts and addresses with failed logins, and account-address pairs with a successful one. The least recently used
 * is evicted.
 */
const MAX_REMEMBERED_ACCOUNTS = 10_000;
const MAX_REMEMBERED_ADDRESSES = 10_000;
const MAX_REMEMBERED_LOGINS = 10_000;

/** The listener that a login arrives at. */
export type EntryPoint = 'api' | 'agents';

/** Verifies one login. It calls `onGuess` before it returns when the attempt is a guess. */
export type Verification<T> = (onGuess: () => void) => Promise<T | undefined>;

/** Claimed identity of a login, and where it comes from. */
export interface LoginAttempt {
  username: string;
  /** Peer address of the connection, regardless of headers. */
  remoteAddress: string;
  entryPoint: EntryPoint;
}

/**
 * Slows down password guessing. Each guess takes a token from the bucket of its account and from that of its address.
 * Tokens refill with time, so no account is locked out for good. Accounts are counted whether they exist or not, and both
 * entry points share the count. After a successful login from an address, the pair of account and address has a bucket
 * of its own there, so guesses from elsewhere do not lock the user out.
 */
export class LoginThrottle {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #accountTimes = new LRUCache<string, number>(atMost(MAX_REMEMBERED_ACCOUNTS));
  readonly #addressTimes = new LRUCache<string, number>(atMost(MAX_REMEMBERED_ADDRESSES));
  readonly #succeeded = new LRUCache<string, true>(atMost(MAX_REMEMBERED_LOGINS));
  readonly #accounts = new Buckets(ACCOUNT, this.#accountTimes);
  readonly #fleets = new Buckets(FLEET, this.#accountTimes);
  readonly #addresses = new Buckets(ADDRESS, this.#addressTimes);
  #refused = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  get accounts(): QueueStats {
    return { used: this.#accountTimes.size, limit: MAX_REMEMBERED_ACCOUNTS };
  }

  get addresses(): QueueStats {
    return { used: this.#addressTimes.size, limit: MAX_REMEMBERED_ADDRESSES };
  }

  get logins(): QueueStats {
    return { used: this.#succeeded.size, limit: MAX_REMEMBERED_LOGINS };
  }

  /** Logins rejected without verification. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * Returns the result of `verify`, undefined for a failed login. A successful login refunds its tokens.
   * @throws TooManyLogins before anything is verified
   */
  async login<T>(attempt: LoginAttempt, verify: Verification<T>): Promise<T | undefined> {
    const address = networkOf(attempt.remoteAddress);
    const pairKey = digest(JSON.stringify([attempt.entryPoint, attempt.username, address]));
    const charged =
      this.#succeeded.get(pairKey) === true
        ? this.#pairBuckets(attempt, pairKey)
        : this.#sharedBuckets(attempt, address);
    this.#assertMayGuess(charged);
    let isGuess = false;
    const onGuess = (): void => {
      isGuess = true;
      for (const { buckets, key } of charged) buckets.take(key, this.#clock.monotonicMs());
    };
    const refund = (): void => {
      if (isGuess) for (const { buckets, key } of charged) buckets.refund(key);
    };
    try {
      const found = await verify(onGuess);
      if (found === undefined) return undefined;
      refund();
      const [{ buckets, key }] = charged;
      buckets.clear(key);
      this.#succeeded.set(pairKey, true);
      return found;
    } catch (error) {
      // The verification failed before it had a result, so it reveals nothing.
      refund();
      throw error;
    }
  }

  /** The bucket of a pair of account and address that has logged in before. */
  #pairBuckets({ entryPoint }: LoginAttempt, pairKey: string): Charged {
    return [{ buckets: entryPoint === 'agents' ? this.#fleets : this.#accounts, key: pairKey }];
  }

  #sharedBuckets({ username }: LoginAttempt, address: string): Charged {
    return [
      { buckets: this.#accounts, key: digest(username) },
      { buckets: this.#addresses, key: address },
    ];
  }

  #assertMayGuess(charged: Charged): void {
    const nowMs = this.#clock.monotonicMs();
    const waitMs = Math.max(...charged.map(({ buckets, key }) => buckets.waitMs(key, nowMs)));
    if (waitMs <= 0) return;
    this.#refused += 1;
    throw new TooManyLogins(Math.ceil(waitMs / 1_000));
  }
}

interface Bucket {
  buckets: Buckets;
  key: string;
}

/** The buckets that a guess takes a token from, starting with that of the account. */
type Charged = readonly [Bucket, ...Bucket[]];

/** Token buckets, each stored as the time at which it will be full. */
class Buckets {
  readonly #capacity: number;
  readonly #refillMs: number;
  readonly #fullAtMs: LRUCache<string, number>;

  constructor({ capacity, refillMs }: { capacity: number; refillMs: number }, fullAtMs: LRUCache<string, number>) {
    this.#capacity = capacity;
    this.#refillMs = refillMs;
    this.#fullAtMs = fullAtMs;
  }

  /** Time until the bucket has a token, ms; 0 or less when it has one. */
  waitMs(key: string, nowMs: number): number {
    return (this.#fullAtMs.get(key) ?? nowMs) - nowMs - (this.#capacity - 1) * this.#refillMs;
  }

  take(key: string, nowMs: number): void {
    this.#fullAtMs.set(key, Math.max(this.#fullAtMs.get(key) ?? nowMs, nowMs) + this.#refillMs);
  }

  refund(key: string): void {
    const fullAtMs = this.#fullAtMs.get(key);
    if (fullAtMs !== undefined) this.#fullAtMs.set(key, fullAtMs - this.#refillMs);
  }

  clear(key: string): void {
    this.#fullAtMs.delete(key);
  }
}

/** Bounds the size of a key: a user name may be as long as a header. */
const digest = (text: string): string => hash('sha256', text, 'base64');

const IPV6_GROUPS = 8;
const NETWORK_GROUPS = 4;

/** A host with IPv6 usually controls a whole /64, so addresses of one /64 count as one. */
function networkOf(remoteAddress: string): string {
  const host = remoteAddress.replace(/^::ffff:(?=\d+\.)/, '');
  if (!host.includes(':')) return host;
  const [left = [], right] = host.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = right === undefined ? 0 : IPV6_GROUPS - left.length - right.length;
  const groups = [...left, ...Array<string>(Math.max(0, zeros)).fill('0'), ...(right ?? [])];
  return groups.slice(0, NETWORK_GROUPS).join(':');
}

import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports/clock.ts';
import type { QueueStats } from '../ports/queue-stats.ts';
import { TooManyLogins } from '../resources/errors.ts';

/** Wrong guesses at one account in a row, and then one in so long: 2,890 in a day. */
const ACCOUNT = { capacity: 10, refillMs: 30_000 };
/** The same of an account whose agents have come in from that address: one of them with an old password must not hold up the others. */
const FLEET = { capacity: 1_000, refillMs: 1_000 };
/** From one address, at whatever accounts: many people may share it. */
const ADDRESS = { capacity: 50, refillMs: 2_000 };
/** Accounts and addresses with failed logins, and pairs of them with a login that succeeded; the least recently used is forgotten. */
const MAX_REMEMBERED_ACCOUNTS = 10_000;
const MAX_REMEMBERED_ADDRESSES = 10_000;
const MAX_REMEMBERED_LOGINS = 10_000;

/** Where somebody wants to come in. */
export type Entrance = 'api' | 'agents';

/** Verifies one login; calls `guessing`, before it returns, when that costs a guess. */
export type Verification<T> = (guessing: () => void) => Promise<T | undefined>;

/** Who he says he is, and where he comes from and to. */
export interface LoginAttempt {
  username: string;
  /** The other end of the connection, whatever headers say. */
  remoteAddress: string;
  entrance: Entrance;
}

/**
 * Slows down whoever guesses passwords. Each guess takes a token of its account and of its address, which come back with
 * time: nobody is locked out for good. Accounts are counted whether they exist or not, and the same for both entrances. Who has
 * come in from an address by one of them has tokens of his own there: the guesses of others do not lock him out.
 */
export class LoginThrottle {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #accountTimes = new LRUCache<string, number>({ max: MAX_REMEMBERED_ACCOUNTS });
  readonly #addressTimes = new LRUCache<string, number>({ max: MAX_REMEMBERED_ADDRESSES });
  readonly #succeeded = new LRUCache<string, true>({ max: MAX_REMEMBERED_LOGINS });
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

  /** Logins that were not even tried. */
  get refused(): number {
    return this.#refused;
  }

  /** What `verify` finds, undefined for a failed login. Success gives the tokens back. @throws TooManyLogins before anything is verified */
  async login<T>(attempt: LoginAttempt, verify: Verification<T>): Promise<T | undefined> {
    const address = networkOf(attempt.remoteAddress);
    const here = digest(JSON.stringify([attempt.entrance, attempt.username, address]));
    const taken = this.#succeeded.get(here) === true ? this.#own(attempt, here) : this.#shared(attempt, address);
    this.#assertMayGuess(taken);
    let isGuess = false;
    const guessing = (): void => {
      isGuess = true;
      for (const { buckets, key } of taken) buckets.take(key, this.#clock.monotonicMs());
    };
    const giveBack = (): void => {
      if (isGuess) for (const { buckets, key } of taken) buckets.giveBack(key);
    };
    try {
      const found = await verify(guessing);
      if (found === undefined) return undefined;
      giveBack();
      const [{ buckets, key }] = taken;
      buckets.clear(key);
      this.#succeeded.set(here, true);
      return found;
    } catch (error) {
      // Nothing came of it: it was no guess.
      giveBack();
      throw error;
    }
  }

  /** Of one who has come in from there before. */
  #own({ entrance }: LoginAttempt, here: string): Taken {
    return [{ buckets: entrance === 'agents' ? this.#fleets : this.#accounts, key: here }];
  }

  #shared({ username }: LoginAttempt, address: string): Taken {
    return [
      { buckets: this.#accounts, key: digest(username) },
      { buckets: this.#addresses, key: address },
    ];
  }

  #assertMayGuess(taken: Taken): void {
    const nowMs = this.#clock.monotonicMs();
    const waitMs = Math.max(...taken.map(({ buckets, key }) => buckets.waitMs(key, nowMs)));
    if (waitMs <= 0) return;
    this.#refused += 1;
    throw new TooManyLogins(Math.ceil(waitMs / 1_000));
  }
}

interface Bucket {
  buckets: Buckets;
  key: string;
}

/** What a guess takes a token of, that of the account first. */
type Taken = readonly [Bucket, ...Bucket[]];

/** Token buckets, each kept as the moment at which it will be full again. */
class Buckets {
  readonly #capacity: number;
  readonly #refillMs: number;
  readonly #fullAtMs: LRUCache<string, number>;

  constructor({ capacity, refillMs }: { capacity: number; refillMs: number }, fullAtMs: LRUCache<string, number>) {
    this.#capacity = capacity;
    this.#refillMs = refillMs;
    this.#fullAtMs = fullAtMs;
  }

  /** Until the bucket has a token; 0 or less when it has one. */
  waitMs(key: string, nowMs: number): number {
    return (this.#fullAtMs.get(key) ?? nowMs) - nowMs - (this.#capacity - 1) * this.#refillMs;
  }

  take(key: string, nowMs: number): void {
    this.#fullAtMs.set(key, Math.max(this.#fullAtMs.get(key) ?? nowMs, nowMs) + this.#refillMs);
  }

  giveBack(key: string): void {
    const fullAtMs = this.#fullAtMs.get(key);
    if (fullAtMs !== undefined) this.#fullAtMs.set(key, fullAtMs - this.#refillMs);
  }

  clear(key: string): void {
    this.#fullAtMs.delete(key);
  }
}

/** A name may be as long as a header. */
const digest = (text: string): string => hash('sha256', text, 'base64');

const IPV6_GROUPS = 8;
const NETWORK_GROUPS = 4;

/** Whoever has an IPv6 address has all of its /64: they count as one. */
function networkOf(remoteAddress: string): string {
  const host = remoteAddress.replace(/^::ffff:(?=\d+\.)/, '');
  if (!host.includes(':')) return host;
  const [left = [], right] = host.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = right === undefined ? 0 : IPV6_GROUPS - left.length - right.length;
  const groups = [...left, ...Array<string>(Math.max(0, zeros)).fill('0'), ...(right ?? [])];
  return groups.slice(0, NETWORK_GROUPS).join(':');
}

import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports/clock.ts';
import type { Occupancy } from '../ports/occupancy.ts';
import { TooManyLogins } from '../resources/errors.ts';

/** Wrong guesses at one account in a row, and then one in so long: 2,890 in a day. */
const ACCOUNT = { capacity: 10, refillMs: 30_000 };
/** From one address, at whatever accounts: many people may share it. */
const ADDRESS = { capacity: 50, refillMs: 2_000 };
/** Accounts and addresses with failed logins, and pairs of them with a login that succeeded; the least recently used is forgotten. */
const MAX_REMEMBERED_ACCOUNTS = 10_000;
const MAX_REMEMBERED_ADDRESSES = 10_000;
const MAX_REMEMBERED_LOGINS = 10_000;

/** Verifies one login; calls `guessing`, before it returns, when that costs a guess. */
export type Verification<T> = (guessing: () => void) => Promise<T | undefined>;

/**
 * Slows down whoever guesses passwords. Each guess takes a token of its account and of its address, which come back with
 * time: nobody is locked out for good. Accounts are counted whether they exist or not. Who has logged in from an address
 * has tokens of his own there: the guesses of others do not lock him out.
 */
export class LoginThrottle {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #accountTimes = new LRUCache<string, number>({ max: MAX_REMEMBERED_ACCOUNTS });
  readonly #addressTimes = new LRUCache<string, number>({ max: MAX_REMEMBERED_ADDRESSES });
  readonly #succeeded = new LRUCache<string, true>({ max: MAX_REMEMBERED_LOGINS });
  readonly #accounts = new Buckets(ACCOUNT, this.#accountTimes);
  readonly #addresses = new Buckets(ADDRESS, this.#addressTimes);
  #refused = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  get accounts(): Occupancy {
    return { used: this.#accountTimes.size, limit: MAX_REMEMBERED_ACCOUNTS };
  }

  get addresses(): Occupancy {
    return { used: this.#addressTimes.size, limit: MAX_REMEMBERED_ADDRESSES };
  }

  get logins(): Occupancy {
    return { used: this.#succeeded.size, limit: MAX_REMEMBERED_LOGINS };
  }

  /** Logins that were not even tried. */
  get refused(): number {
    return this.#refused;
  }

  /** What `verify` finds, undefined for a failed login. Success gives the tokens back. @throws TooManyLogins before anything is verified */
  async login<T>(username: string, remoteAddress: string, verify: Verification<T>): Promise<T | undefined> {
    const address = networkOf(remoteAddress);
    const pair = digest(JSON.stringify([username, address]));
    const account = this.#succeeded.get(pair) === true ? pair : digest(username);
    this.#assertMayGuess(account, address);
    let isGuess = false;
    const guessing = (): void => {
      isGuess = true;
      this.#accounts.take(account, this.#clock.monotonicMs());
      this.#addresses.take(address, this.#clock.monotonicMs());
    };
    const giveBack = (): void => {
      if (isGuess) this.#addresses.giveBack(address);
    };
    try {
      const found = await verify(guessing);
      if (found === undefined) return undefined;
      giveBack();
      this.#accounts.clear(account);
      this.#succeeded.set(pair, true);
      return found;
    } catch (error) {
      // Nothing came of it: it was no guess.
      giveBack();
      if (isGuess) this.#accounts.giveBack(account);
      throw error;
    }
  }

  #assertMayGuess(account: string, address: string): void {
    const nowMs = this.#clock.monotonicMs();
    const waitMs = Math.max(this.#accounts.waitMs(account, nowMs), this.#addresses.waitMs(address, nowMs));
    if (waitMs <= 0) return;
    this.#refused += 1;
    throw new TooManyLogins(Math.ceil(waitMs / 1_000));
  }
}

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

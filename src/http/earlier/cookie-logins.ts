import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { LRUCache } from 'lru-cache';
import { atMost } from '../../ports/at-most.ts';
import type { Clock } from '../../ports/clock.ts';
import { Unauthenticated } from '../../resources/errors.ts';

/** Whose login it is. */
export interface LoginOwner {
  username: string;
  /** The hash of the password at the login; undefined for the configured pair. */
  passwordHash: string | undefined;
}

interface Login extends LoginOwner {
  xsrf: string;
  endsAtMs: number;
}

/** The names that clients of the dashboard of the first generation know. */
const TOKEN_COOKIE = 'AuthenticationToken';
const XSRF_COOKIE = 'XSRF-TOKEN';
const XSRF_HEADER = 'x-xsrf-token';
const LIFETIME_S = 12 * 3_600;
/** Past this number the least recently used login ends. */
const MAX_LOGINS = 10_000;
const TOKEN_BYTES = 32;

/**
 * The logins by cookie, in memory: a restart ends them. A request needs both the cookie, which no script can read, and the header
 * `X-XSRF-TOKEN` with the value of the other cookie, which no page of another origin can read. Source: spec/05 2.3.
 */
export class CookieLogins {
  /** By the digest of the token, so that a lookup reveals nothing about tokens. */
  readonly #logins = new LRUCache<string, Login>(atMost(MAX_LOGINS));
  readonly #clock: Pick<Clock, 'monotonicMs'>;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Begins a login, and returns its cookies. `isSecure` keeps them from connections without TLS. */
  begin(owner: LoginOwner, isSecure: boolean): string[] {
    const [token, xsrf] = [randomText(), randomText()];
    this.#logins.set(digest(token), { ...owner, xsrf, endsAtMs: this.#clock.monotonicMs() + LIFETIME_S * 1_000 });
    return cookies(token, xsrf, LIFETIME_S, isSecure);
  }

  /** Ends the login of a request, if there is one, and returns the cookies that remove those of the client. */
  end(headers: IncomingHttpHeaders, isSecure: boolean): string[] {
    const token = tokenIn(headers);
    if (token !== undefined) this.#logins.delete(digest(token));
    return cookies('', '', 0, isSecure);
  }

  /**
   * Returns whose login a request has; undefined when it has none, or one that has ended.
   * @throws Unauthenticated for a login without its header
   */
  ownerOf(headers: IncomingHttpHeaders): LoginOwner | undefined {
    const token = tokenIn(headers);
    const login = token === undefined ? undefined : this.#logins.get(digest(token));
    if (login === undefined || this.#clock.monotonicMs() >= login.endsAtMs) return undefined;
    if (isSame(String(headers[XSRF_HEADER] ?? ''), login.xsrf)) return login;
    throw new Unauthenticated(`the header X-XSRF-TOKEN must repeat the cookie ${XSRF_COOKIE}`);
  }
}

function tokenIn({ cookie = '' }: IncomingHttpHeaders): string | undefined {
  const pairs = cookie.split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${TOKEN_COOKIE}=`))?.slice(TOKEN_COOKIE.length + 1);
}

function cookies(token: string, xsrf: string, lifetimeS: number, isSecure: boolean): string[] {
  const attributes = `Path=/; Max-Age=${lifetimeS}; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  return [`${TOKEN_COOKIE}=${token}; HttpOnly; ${attributes}`, `${XSRF_COOKIE}=${xsrf}; ${attributes}`];
}

const randomText = (): string => randomBytes(TOKEN_BYTES).toString('base64url');

const digest = (text: string): string => hash('sha256', text, 'base64url');

/** Compares in a time that does not depend on where the texts differ. */
export const isSame = (one: string, other: string): boolean =>
  timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'));

import { randomBytes, randomUUID } from 'node:crypto';
import { compactVerify, errors, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports/clock.ts';
import type { Occupancy } from '../ports/occupancy.ts';
import { Unauthenticated } from '../resources/errors.ts';
import type { User } from '../resources/user.ts';
import type { Caller } from './route.ts';

const ACCESS_S = 5 * 60;
const REFRESH_S = 12 * 60 * 60;
const ALGORITHM = 'HS256';
/** Tokens whose signature was verified; the least recently used is verified anew. */
const MAX_REMEMBERED_TOKENS = 10_000;
/** Members of it are all who logged in; every user can see himself through it. */
export const USERS_GROUP = 'system:users';

/** What a login is answered with, by the names that clients know. */
export interface TokenPair {
  access_token: string;
  /** Unix seconds. */
  expires_at: number;
  refresh_token: string;
}

interface AccessClaims {
  caller: Caller;
  /** Unix seconds; the token is valid during this second, too. */
  expiresAtS: number;
}

export interface AccessTokensPorts {
  secret: Uint8Array;
  clock: Clock;
}

/** Issues and verifies the tokens of a session; what a token may do is not decided here. */
export class AccessTokens {
  readonly #secret: Uint8Array;
  readonly #clock: Clock;
  readonly #verified = new LRUCache<string, AccessClaims>({ max: MAX_REMEMBERED_TOKENS });

  constructor({ secret, clock }: AccessTokensPorts) {
    this.#secret = secret;
    this.#clock = clock;
  }

  /** Tokens whose signature is not verified again. */
  get remembered(): Occupancy {
    return { used: this.#verified.size, limit: MAX_REMEMBERED_TOKENS };
  }

  /** A new session of `user`; `issuer` is where clients refresh. */
  async issue(user: User, issuer: string): Promise<TokenPair> {
    const nowS = this.#nowS();
    const expiresAtS = nowS + ACCESS_S;
    const { username } = user;
    const session = { session_id: randomUUID(), sub: username, api_key: false };
    const access = {
      ...session,
      kind: 'access',
      exp: expiresAtS,
      iss: issuer,
      groups: [...(user.groups ?? []), USERS_GROUP],
      provider: { provider_id: 'basic', provider_type: '', user_id: username },
    };
    const refresh = {
      ...session,
      kind: 'refresh',
      iat: nowS,
      exp: nowS + REFRESH_S,
      groups: null,
      provider: { provider_id: '', provider_type: '', user_id: '' },
    };
    return {
      access_token: await this.#sign(access),
      expires_at: expiresAtS,
      refresh_token: await this.#sign(refresh),
    };
  }

  #sign(claims: Record<string, unknown>): Promise<string> {
    return new SignJWT({ ...claims, jti: randomBytes(16).toString('hex') })
      .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
      .sign(this.#secret);
  }

  /** Whose access token it is. @throws Unauthenticated unless it is ours, an access token and not expired */
  async callerOf(token: string): Promise<Caller> {
    const claims = this.#verified.get(token) ?? (await this.#verify(token));
    if (this.#nowS() > claims.expiresAtS) {
      this.#verified.delete(token);
      throw new Unauthenticated('invalid credentials');
    }
    return claims.caller;
  }

  async #verify(token: string): Promise<AccessClaims> {
    try {
      const { payload } = await compactVerify(token, this.#secret, { algorithms: [ALGORITHM] });
      const claims = this.#accessClaims(JSON.parse(Buffer.from(payload).toString()));
      this.#verified.set(token, claims);
      return claims;
    } catch (cause) {
      if (cause instanceof errors.JOSEError || cause instanceof SyntaxError) {
        throw new Unauthenticated('invalid credentials', { cause });
      }
      throw cause;
    }
  }

  #accessClaims(payload: Partial<Record<string, unknown>>): AccessClaims {
    const { kind, sub, groups, exp, iat, nbf } = payload;
    const hasBegun = [iat, nbf].every(
      (time) => time === undefined || (typeof time === 'number' && time <= this.#nowS()),
    );
    if (kind !== 'access' || typeof sub !== 'string' || typeof exp !== 'number' || !hasBegun) {
      throw new Unauthenticated('invalid credentials');
    }
    const names = Array.isArray(groups) ? groups.filter((group) => typeof group === 'string') : [];
    return { caller: { username: sub, groups: names }, expiresAtS: exp };
  }

  #nowS(): number {
    return Math.floor(this.#clock.nowMs() / 1000);
  }
}

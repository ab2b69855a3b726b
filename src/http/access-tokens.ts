import { randomBytes } from 'node:crypto';
import { compactVerify, errors, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports/clock.ts';
import type { Occupancy } from '../ports/occupancy.ts';
import { Unauthenticated } from '../resources/errors.ts';
import type { User } from '../resources/user.ts';
import { REFRESH_MS, type RefreshTerms } from '../rules/token-sessions.ts';

const ACCESS_S = 5 * 60;
/** The only header that is signed, and the only one that is taken: no key is ever chosen by what a token says. */
const HEADER = { alg: 'HS256', typ: 'JWT' } as const;
/** A decoder takes more than that: padding, and text that belongs to nothing. */
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;
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

export interface TokenClaims {
  kind: 'access' | 'refresh';
  jti: string;
  username: string;
  session: string;
  groups: string[];
  /** Of an access token. */
  issuer: string;
  /** Unix seconds; the token is valid during this second, too. */
  expiresAtS: number;
}

/** A token that does not count, whatever the reason. */
export class InvalidToken extends Unauthenticated {
  constructor(cause?: unknown) {
    super('invalid credentials', { cause });
  }
}

export interface AccessTokensPorts {
  secret: Uint8Array;
  clock: Clock;
}

/** Signs and verifies tokens; whether their session lasts, and what they may do, is not decided here. */
export class AccessTokens {
  readonly #secret: Uint8Array;
  readonly #clock: Clock;
  readonly #verified = new LRUCache<string, TokenClaims>({ max: MAX_REMEMBERED_TOKENS });

  constructor({ secret, clock }: AccessTokensPorts) {
    this.#secret = secret;
    this.#clock = clock;
  }

  /** Tokens whose signature is not verified again. */
  get remembered(): Occupancy {
    return { used: this.#verified.size, limit: MAX_REMEMBERED_TOKENS };
  }

  /** A new access token with the groups of `user`, and the refresh token of `terms`: the same each time. */
  async pair({ username, groups }: User, session: string, terms: RefreshTerms): Promise<TokenPair> {
    const of = { session_id: session, sub: username, api_key: false };
    const expiresAtS = this.#nowS() + ACCESS_S;
    const access = {
      ...of,
      kind: 'access',
      jti: tokenId(),
      exp: expiresAtS,
      iss: terms.issuer,
      groups: [...(groups ?? []), USERS_GROUP],
      provider: { provider_id: 'basic', provider_type: '', user_id: username },
    };
    const refresh = {
      ...of,
      kind: 'refresh',
      jti: terms.jti,
      iat: inSeconds(terms.issuedAtMs),
      exp: inSeconds(terms.issuedAtMs + REFRESH_MS),
      groups: null,
      provider: { provider_id: '', provider_type: '', user_id: '' },
    };
    return {
      access_token: await this.#sign(access),
      expires_at: expiresAtS,
      refresh_token: await this.#sign(refresh),
    };
  }

  /** Of the refresh token that is issued now; `issuer` is where clients refresh. */
  terms(issuer: string): RefreshTerms {
    return { jti: tokenId(), issuedAtMs: this.#clock.nowMs(), issuer };
  }

  /** @throws InvalidToken unless it is ours, of that kind and not expired */
  async claimsOf(token: string, kind: TokenClaims['kind']): Promise<TokenClaims> {
    const claims = await this.expiredClaimsOf(token, kind);
    if (this.#nowS() > claims.expiresAtS) throw new InvalidToken();
    return claims;
  }

  /** The same of a token that may have expired: who refreshes shows one. @throws InvalidToken */
  async expiredClaimsOf(token: string, kind: TokenClaims['kind']): Promise<TokenClaims> {
    const claims = this.#verified.get(token) ?? (await this.#verify(token));
    if (claims.kind !== kind) throw new InvalidToken();
    return claims;
  }

  #sign(claims: Record<string, unknown>): Promise<string> {
    return new SignJWT(claims).setProtectedHeader(HEADER).sign(this.#secret);
  }

  async #verify(token: string): Promise<TokenClaims> {
    if (!TOKEN.test(token)) throw new InvalidToken();
    try {
      const { payload, protectedHeader } = await compactVerify(token, this.#secret, { algorithms: [HEADER.alg] });
      if (Object.keys(protectedHeader).sort().join() !== 'alg,typ') throw new InvalidToken();
      const claims = this.#claims(JSON.parse(Buffer.from(payload).toString()));
      this.#verified.set(token, claims);
      return claims;
    } catch (cause) {
      if (cause instanceof errors.JOSEError || cause instanceof SyntaxError) throw new InvalidToken(cause);
      throw cause;
    }
  }

  #claims(payload: Partial<Record<string, unknown>>): TokenClaims {
    const { kind, jti, sub: username, session_id: session, groups, iss: issuer = '', exp, iat, nbf } = payload;
    const hasBegun = [iat, nbf].every(
      (time) => time === undefined || (typeof time === 'number' && time <= this.#nowS()),
    );
    const isOfKind = kind === 'access' || kind === 'refresh';
    if (!isOfKind || !hasBegun || typeof exp !== 'number') throw new InvalidToken();
    if (!isText(jti) || !isText(username) || !isText(session) || !isText(issuer)) throw new InvalidToken();
    const names = Array.isArray(groups) ? groups.filter(isText) : [];
    return { kind, jti, username, session, groups: names, issuer, expiresAtS: exp };
  }

  #nowS(): number {
    return inSeconds(this.#clock.nowMs());
  }
}

const tokenId = (): string => randomBytes(16).toString('hex');
const inSeconds = (ms: number): number => Math.floor(ms / 1_000);
const isText = (value: unknown): value is string => typeof value === 'string';

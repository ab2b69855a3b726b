import { type KeyObject, randomBytes } from 'node:crypto';
import { compactVerify, errors, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports/clock.ts';
import type { QueueStats } from '../ports/queue-stats.ts';
import { Unauthenticated } from '../resources/errors.ts';
import type { User } from '../resources/user.ts';
import { subjectOf } from '../rules/rbac.ts';
import { REFRESH_MS, type RefreshTerms } from '../rules/token-sessions.ts';

/** Unless they are chosen otherwise. */
const USUAL_LIVES: TokenLives = { accessMs: 5 * 60_000, refreshMs: REFRESH_MS };
/** Of the secret that the store keeps. */
const SECRET_ALGORITHM = 'HS256';
/** A decoder takes more than that: padding, and text that belongs to nothing. */
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;
/** Tokens whose signature was verified; the least recently used is verified anew. */
const MAX_REMEMBERED_TOKENS = 10_000;

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

export type EllipticAlgorithm = 'ES256' | 'ES384' | 'ES512';

/** A pair, and the one algorithm that its curve has. */
export interface EllipticKeys {
  algorithm: EllipticAlgorithm;
  privateKey: KeyObject;
  publicKey: KeyObject;
}

/** How long tokens count. */
export interface TokenLives {
  accessMs: number;
  refreshMs: number;
}

export interface AccessTokensPorts {
  secret: Uint8Array;
  /** They sign in place of the secret, whose tokens go on. */
  keys?: EllipticKeys | undefined;
  lives?: TokenLives | undefined;
  clock: Clock;
}

/** Signs and verifies tokens; whether their session lasts, and what they may do, is not decided here. */
export class AccessTokens {
  /** Each algorithm has one key: what a token says of its algorithm cannot make another key verify it. */
  readonly #verifying: ReadonlyMap<string, Uint8Array | KeyObject>;
  readonly #signing: { algorithm: string; key: Uint8Array | KeyObject };
  readonly #lives: TokenLives;
  readonly #clock: Clock;
  readonly #verified = new LRUCache<string, TokenClaims>({ max: MAX_REMEMBERED_TOKENS });

  constructor({ secret, keys, lives = USUAL_LIVES, clock }: AccessTokensPorts) {
    const bySecret = [SECRET_ALGORITHM, secret] as const;
    this.#verifying = new Map<string, Uint8Array | KeyObject>(
      keys === undefined ? [bySecret] : [bySecret, [keys.algorithm, keys.publicKey]],
    );
    this.#signing =
      keys === undefined
        ? { algorithm: SECRET_ALGORITHM, key: secret }
        : { algorithm: keys.algorithm, key: keys.privateKey };
    this.#lives = lives;
    this.#clock = clock;
  }

  /** Tokens whose signature is not verified again. */
  get remembered(): QueueStats {
    return { used: this.#verified.size, limit: MAX_REMEMBERED_TOKENS };
  }

  /** A new access token with the groups of `user`, and the refresh token of `terms`: the same each time. */
  async pair(user: User, session: string, terms: RefreshTerms): Promise<TokenPair> {
    const { username, groups } = subjectOf(user);
    const of = { session_id: session, sub: username, api_key: false };
    const expiresAtS = this.#nowS() + inSeconds(this.#lives.accessMs);
    const access = {
      ...of,
      kind: 'access',
      jti: tokenId(),
      exp: expiresAtS,
      iss: terms.issuer,
      groups,
      provider: { provider_id: 'basic', provider_type: '', user_id: username },
    };
    const refresh = {
      ...of,
      kind: 'refresh',
      jti: terms.jti,
      iat: inSeconds(terms.issuedAtMs),
      exp: inSeconds(terms.issuedAtMs + this.#lives.refreshMs),
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
    const { algorithm, key } = this.#signing;
    return new SignJWT(claims).setProtectedHeader({ alg: algorithm, typ: 'JWT' }).sign(key);
  }

  async #verify(token: string): Promise<TokenClaims> {
    if (!TOKEN.test(token)) throw new InvalidToken();
    try {
      const { payload, protectedHeader } = await compactVerify(token, ({ alg }) => this.#keyFor(alg), {
        algorithms: [...this.#verifying.keys()],
      });
      // Whatever else a header names, a key for one, is not ours.
      if (Object.keys(protectedHeader).sort().join() !== 'alg,typ') throw new InvalidToken();
      const claims = this.#claims(JSON.parse(Buffer.from(payload).toString()));
      this.#verified.set(token, claims);
      return claims;
    } catch (cause) {
      if (cause instanceof errors.JOSEError || cause instanceof SyntaxError) throw new InvalidToken(cause);
      throw cause;
    }
  }

  /** @throws InvalidToken */
  #keyFor(algorithm: string): Uint8Array | KeyObject {
    const key = this.#verifying.get(algorithm);
    if (key === undefined) throw new InvalidToken();
    return key;
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

import { type KeyObject, randomBytes } from 'node:crypto';
import { compactVerify, errors, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { atMost } from '../ports/at-most.ts';
import type { Clock } from '../ports/clock.ts';
import type { QueueStats } from '../ports/queue-stats.ts';
import { Unauthenticated } from '../resources/errors.ts';
import type { User } from '../resources/user.ts';
import { subjectOf } from '../rules/rbac.ts';
import { REFRESH_MS, type RefreshTerms } from '../rules/token-sessions.ts';

/** Used unless the configuration sets other lifetimes. */
const DEFAULT_LIFETIMES: TokenLifetimes = { accessMs: 5 * 60_000, refreshMs: REFRESH_MS };
/** Signature algorithm of the secret in the store. */
const SECRET_ALGORITHM = 'HS256';
/** Stricter than the decoder, which also accepts padding and characters outside the alphabet. */
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;
/**
 * Cached tokens with a verified signature. Past this number the least recently used token is evicted and verified
 * again.
 */
const MAX_REMEMBERED_TOKENS = 10_000;

/** The response to a login; the field names are part of the API. */
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
  /** Set in access tokens only. */
  issuer: string;
  /** Unix seconds. The token is still valid in this second. */
  expiresAtS: number;
}

/** A token that is not accepted, for whatever reason. */
export class InvalidToken extends Unauthenticated {
  constructor(cause?: unknown) {
    super('invalid credentials', { cause });
  }
}

export type EllipticAlgorithm = 'ES256' | 'ES384' | 'ES512';

/** A key pair and the one algorithm that matches its curve. */
export interface EllipticKeys {
  algorithm: EllipticAlgorithm;
  privateKey: KeyObject;
  publicKey: KeyObject;
}

/** How long tokens are valid. */
export interface TokenLifetimes {
  accessMs: number;
  refreshMs: number;
}

export interface AccessTokensPorts {
  secret: Uint8Array;
  /** When present, these keys sign new tokens. Tokens signed with the secret stay valid. */
  keys?: EllipticKeys | undefined;
  lifetimes?: TokenLifetimes | undefined;
  clock: Clock;
}

/** Signs and verifies tokens. It checks neither the login session nor the rights of the user. */
export class AccessTokens {
  /** One key for each algorithm, so that the `alg` header of a token cannot select another key. */
  readonly #verifying: ReadonlyMap<string, Uint8Array | KeyObject>;
  readonly #signing: { algorithm: string; key: Uint8Array | KeyObject };
  readonly #lifetimes: TokenLifetimes;
  readonly #clock: Clock;
  readonly #verified = new LRUCache<string, TokenClaims>(atMost(MAX_REMEMBERED_TOKENS));

  constructor({ secret, keys, lifetimes = DEFAULT_LIFETIMES, clock }: AccessTokensPorts) {
    const bySecret = [SECRET_ALGORITHM, secret] as const;
    this.#verifying = new Map<string, Uint8Array | KeyObject>(
      keys === undefined ? [bySecret] : [bySecret, [keys.algorithm, keys.publicKey]],
    );
    this.#signing =
      keys === undefined
        ? { algorithm: SECRET_ALGORITHM, key: secret }
        : { algorithm: keys.algorithm, key: keys.privateKey };
    this.#lifetimes = lifetimes;
    this.#clock = clock;
  }

  /** Cached tokens, whose signature is not verified again. */
  get remembered(): QueueStats {
    return { used: this.#verified.size, limit: MAX_REMEMBERED_TOKENS };
  }

  /**
   * A new access token with the groups of `user`, and the refresh token of `terms`, which is identical at each call.
   */
  async pair(user: User, session: string, terms: RefreshTerms): Promise<TokenPair> {
    const { username, groups } = subjectOf(user);
    const of = { session_id: session, sub: username, api_key: false };
    const expiresAtS = this.#nowS() + inSeconds(this.#lifetimes.accessMs);
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
      exp: inSeconds(terms.issuedAtMs + this.#lifetimes.refreshMs),
      groups: null,
      provider: { provider_id: '', provider_type: '', user_id: '' },
    };
    return {
      access_token: await this.#sign(access),
      expires_at: expiresAtS,
      refresh_token: await this.#sign(refresh),
    };
  }

  /** Terms of a refresh token issued now. `issuer` is the URL where clients refresh. */
  terms(issuer: string): RefreshTerms {
    return { jti: tokenId(), issuedAtMs: this.#clock.nowMs(), issuer };
  }

  /**
   * Returns the claims at once if the signature of the token was verified before.
   *
   * @throws InvalidToken unless this backend signed the token, it is of `kind` and it has not expired
   */
  claimsOf(token: string, kind: TokenClaims['kind']): TokenClaims | Promise<TokenClaims> {
    const known = this.#verified.get(token);
    if (known === undefined) return this.#verify(token).then((claims) => this.#unexpired(ofKind(claims, kind)));
    return this.#unexpired(ofKind(known, kind));
  }

  /** Like `claimsOf`, but accepts an expired token, as sent with a refresh. @throws InvalidToken */
  async expiredClaimsOf(token: string, kind: TokenClaims['kind']): Promise<TokenClaims> {
    return ofKind(this.#verified.get(token) ?? (await this.#verify(token)), kind);
  }

  #unexpired(claims: TokenClaims): TokenClaims {
    if (this.#nowS() > claims.expiresAtS) throw new InvalidToken();
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
      // Tokens of this backend have no other headers, such as an embedded key.
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

/** @throws InvalidToken when the claims are those of a token of another kind */
function ofKind(claims: TokenClaims, kind: TokenClaims['kind']): TokenClaims {
  if (claims.kind !== kind) throw new InvalidToken();
  return claims;
}

const tokenId = (): string => randomBytes(16).toString('hex');
const inSeconds = (ms: number): number => Math.floor(ms / 1_000);
const isText = (value: unknown): value is string => typeof value === 'string';

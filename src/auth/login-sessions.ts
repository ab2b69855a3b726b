import { randomUUID } from 'node:crypto';
import type { Commands } from '../actors/administration/commands.ts';
import type { Log } from '../ports/log.ts';
import { InvalidResource, Unauthenticated } from '../resources/errors.ts';
import { isName } from '../resources/names.ts';
import type { User } from '../resources/user.ts';
import { isIssuerOf, NO_SESSIONS, sessionOf } from '../rules/token-sessions.ts';
import type { ResourceStore } from '../store/resource-store.ts';
import { type AccessTokens, InvalidToken, type TokenClaims, type TokenPair } from './access-tokens.ts';
import type { Caller } from './caller.ts';

/** Both tokens of one login, as the client sends them. */
export interface SentTokens {
  access: string;
  refresh: string;
}

export interface LoginSessionsPorts {
  resources: Pick<ResourceStore, 'get' | 'tokenSessions'>;
  commands: Pick<Commands, 'openTokenSession' | 'refreshTokenSession' | 'endTokenSession'>;
  tokens: AccessTokens;
  log: Log;
}

/** Login sessions: the tokens of a session are valid while the session is stored and its user is enabled. */
export class LoginSessions {
  readonly #ports: LoginSessionsPorts;

  constructor(ports: LoginSessionsPorts) {
    this.#ports = ports;
  }

  /**
   * Opens a session for a user whose password was just verified. `issuer` is the URL for refreshes.
   * @throws Unauthenticated, StoreUnavailable
   */
  async open(user: User, issuer: string): Promise<TokenPair> {
    const { commands, tokens } = this.#ports;
    const opened = { id: randomUUID(), current: tokens.terms(issuer), previous: null };
    const isOpen = await commands.openTokenSession(user.username, user.password_hash, opened);
    if (!isOpen) throw new Unauthenticated('Unauthorized');
    return tokens.pair(user, opened.id, opened.current);
  }

  /**
   * Issues new tokens with the current groups of the user. The previous refresh token, sent shortly after its successor
   * was issued, returns the successor; any other old token ends the session.
   * @throws InvalidToken; Unauthenticated when the user is deleted or disabled; InvalidResource when the session has
   * ended; StoreUnavailable
   */
  async refresh(sent: SentTokens, issuer: string): Promise<TokenPair> {
    const { commands, tokens, log } = this.#ports;
    const { username, session, jti } = await this.#claimsOf(sent);
    const user = this.#activeUser(username);
    if (user === undefined) throw new Unauthenticated('Unauthorized');
    const next = tokens.terms(issuer);
    const { type, terms } = await commands.refreshTokenSession(username, { session, jti, next });
    if (type === 'reused') log.warn({ username, session }, 'refresh token was used twice, its session has ended');
    if (terms === undefined) throw new InvalidResource('invalid access token');
    return tokens.pair(user, session, terms);
  }

  /**
   * Ends the session, also of a disabled user; does nothing if it has already ended.
   * @throws InvalidToken, StoreUnavailable
   */
  async end(sent: SentTokens): Promise<void> {
    const { username, session } = await this.#claimsOf(sent);
    await this.#ports.commands.endTokenSession(username, session);
  }

  /** The caller that an access token belongs to, at once if its signature is known to be valid. @throws InvalidToken */
  callerOf(access: string): Caller | Promise<Caller> {
    const claims = this.#ports.tokens.claimsOf(access, 'access');
    return claims instanceof Promise ? claims.then((verified) => this.#callerWith(verified)) : this.#callerWith(claims);
  }

  /** @throws InvalidToken when the session has ended or the user is deleted or disabled */
  #callerWith({ username, groups, session: id, issuer }: TokenClaims): Caller {
    const session = sessionOf(this.#ports.resources.tokenSessions(username) ?? NO_SESSIONS, id);
    const isValid = session !== undefined && isIssuerOf(session, issuer) && this.#activeUser(username) !== undefined;
    if (!isValid) throw new InvalidToken();
    return { username, groups, session: id };
  }

  /** Claims of the refresh token. The access token of the pair may have expired. @throws InvalidToken */
  async #claimsOf({ access, refresh }: SentTokens): Promise<TokenClaims> {
    const { tokens } = this.#ports;
    const shown = await tokens.expiredClaimsOf(access, 'access');
    const claims = await tokens.claimsOf(refresh, 'refresh');
    if (claims.session !== shown.session || claims.username !== shown.username) throw new InvalidToken();
    return claims;
  }

  #activeUser(username: string): User | undefined {
    const user = isName(username) ? this.#ports.resources.get('users', undefined, username) : undefined;
    return user?.disabled === false ? user : undefined;
  }
}

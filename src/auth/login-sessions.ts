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

/** Both of one login. */
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

/** What begins with a login: its tokens count while the session is stored and its user may log in, and no longer. */
export class LoginSessions {
  readonly #ports: LoginSessionsPorts;

  constructor(ports: LoginSessionsPorts) {
    this.#ports = ports;
  }

  /** `user` has just shown his password; `issuer` is where clients refresh. @throws Unauthenticated, StoreUnavailable */
  async open(user: User, issuer: string): Promise<TokenPair> {
    const { commands, tokens } = this.#ports;
    const opened = { id: randomUUID(), current: tokens.terms(issuer), previous: null };
    const isOpen = await commands.openTokenSession(user.username, user.password_hash, opened);
    if (!isOpen) throw new Unauthenticated('Unauthorized');
    return tokens.pair(user, opened.id, opened.current);
  }

  /**
   * New tokens with the groups that the user has now. The token before the current one, shortly after that was issued, gets the
   * current one; any other ends the session.
   * @throws InvalidToken, Unauthenticated when the user is gone or disabled, InvalidResource when the session has ended, StoreUnavailable
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

  /** Also of a user who is disabled, and of a session that has ended. @throws InvalidToken, StoreUnavailable */
  async end(sent: SentTokens): Promise<void> {
    const { username, session } = await this.#claimsOf(sent);
    await this.#ports.commands.endTokenSession(username, session);
  }

  /** Whose access token it is. @throws InvalidToken */
  async callerOf(access: string): Promise<Caller> {
    const { username, groups, session: id, issuer } = await this.#ports.tokens.claimsOf(access, 'access');
    const session = sessionOf(this.#ports.resources.tokenSessions(username) ?? NO_SESSIONS, id);
    const isGood = session !== undefined && isIssuerOf(session, issuer) && this.#activeUser(username) !== undefined;
    if (!isGood) throw new InvalidToken();
    return { username, groups, session: id };
  }

  /** Of the refresh token. The access token may have expired. @throws InvalidToken */
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

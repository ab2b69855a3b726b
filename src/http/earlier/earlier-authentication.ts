import type { IncomingMessage } from 'node:http';
import type { Auth } from '../../auth/auth.ts';
import type { Caller } from '../../auth/caller.ts';
import { Forbidden, Unauthenticated } from '../../resources/errors.ts';
import { type AccessRequest, subjectOf } from '../../rules/rbac.ts';
import type { ResourceStore } from '../../store/resource-store.ts';
import { parseBasic } from '../../wire/handshake.ts';
import { type CookieLogins, isSame, type LoginOwner } from './cookie-logins.ts';
import type { EarlierCaller } from './earlier-route.ts';
import { isForwardedOrForeign, isLoopback } from './other-sites.ts';

export interface EarlierAuthenticationPorts {
  auth: Pick<Auth, 'access' | 'authentication' | 'credentials' | 'throttle'>;
  /** The pair that gives access to everything. */
  pair: { readonly username: string; readonly password: string } | undefined;
  allowsAnonymous: boolean;
  resources: Pick<ResourceStore, 'get'>;
  /** The logins by cookie; undefined where there are none. */
  logins: CookieLogins | undefined;
}

interface Credentials {
  username: string;
  password: string;
}

/** The user of requests without credentials, in the ledger. */
const ANONYMOUS = 'mon-api';
const everything = (): boolean => true;

/** A caller of a public route without valid credentials. */
export const UNAUTHENTICATED: EarlierCaller = { username: '', isAnonymous: true, may: () => false };

/** Identifies callers: by a token, a key, a user's password, the configured pair, a login by cookie, or by their address alone. Source: spec/05 2.3. */
export class EarlierAuthentication {
  readonly #ports: EarlierAuthenticationPorts;

  constructor(ports: EarlierAuthenticationPorts) {
    this.#ports = ports;
  }

  /** @throws Unauthenticated, TooManyLogins, Overloaded */
  async callerOf(request: IncomingMessage): Promise<EarlierCaller> {
    const { authorization } = request.headers;
    const { allowsAnonymous, auth, logins } = this.#ports;
    if (authorization === undefined) {
      const owner = logins?.ownerOf(request.headers);
      if (owner !== undefined) return this.#callerOf(owner);
      if (allowsAnonymous || this.#isLocal(request)) return { username: ANONYMOUS, isAnonymous: true, may: everything };
      throw new Unauthenticated();
    }
    if (/^basic\b/i.test(authorization)) return this.#callerOfPassword(authorization, request);
    return this.#withRights(await auth.authentication.callerOf(authorization));
  }

  #isLocal({ headers, socket: { remoteAddress = '' } }: IncomingMessage): boolean {
    return this.#ports.pair === undefined && isLoopback(remoteAddress) && !isForwardedOrForeign(headers);
  }

  async #callerOfPassword(authorization: string, { socket }: IncomingMessage): Promise<EarlierCaller> {
    // The first generation takes the first word after the scheme.
    const [scheme = '', encoded = ''] = authorization.trim().split(/\s+/);
    const basic = parseBasic(`${scheme} ${encoded}`);
    if (basic === undefined) throw new Unauthenticated();
    const { remoteAddress = '' } = socket;
    return this.#callerOf(await this.ownerOf(basic, remoteAddress));
  }

  /** Verifies a user name and a password. @throws Unauthenticated, TooManyLogins, Overloaded */
  async ownerOf({ username, password }: Credentials, remoteAddress: string): Promise<LoginOwner> {
    const { pair, auth } = this.#ports;
    const isPair = pair !== undefined && isSame(username, pair.username) && isSame(password, pair.password);
    if (isPair) return { username, passwordHash: undefined };
    const user = await auth.throttle.login({ username, remoteAddress, entryPoint: 'api' }, (onGuess) =>
      auth.credentials.verify(username, password, onGuess),
    );
    if (user === undefined) throw new Unauthenticated();
    return { username, passwordHash: user.password_hash };
  }

  /** @throws Unauthenticated for a user who was deleted or disabled, or has another password since */
  #callerOf({ username, passwordHash }: LoginOwner): EarlierCaller {
    if (passwordHash === undefined) return { username, isAnonymous: false, may: everything };
    const user = this.#ports.resources.get('users', undefined, username);
    if (user?.disabled !== false || user.password_hash !== passwordHash) throw new Unauthenticated();
    return this.#withRights(subjectOf(user));
  }

  #withRights(caller: Caller): EarlierCaller {
    const { access } = this.#ports.auth;
    const may = (request: AccessRequest): boolean => {
      try {
        access.assertAllowed(caller, request);
        return true;
      } catch (error) {
        if (error instanceof Forbidden) return false;
        throw error;
      }
    };
    return { username: caller.username, isAnonymous: false, may };
  }
}

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIPv4 } from 'node:net';
import type { Auth } from '../../auth/auth.ts';
import type { Caller } from '../../auth/caller.ts';
import { Forbidden, Unauthenticated } from '../../resources/errors.ts';
import { type AccessRequest, subjectOf } from '../../rules/rbac.ts';
import type { ResourceStore } from '../../store/resource-store.ts';
import { parseBasic } from '../../wire/handshake.ts';
import { type CookieLogins, isSame, type LoginOwner } from './cookie-logins.ts';
import type { EarlierCaller } from './earlier-route.ts';

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

/** Headers of proxies. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];
/** The user of requests without credentials, in the ledger. */
const ANONYMOUS = 'mon-api';
const everything = (): boolean => true;

/** A caller of a public route without valid credentials. */
export const STRANGER: EarlierCaller = { username: '', isAnonymous: true, may: () => false };

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
    return this.#ports.pair === undefined && isLoopback(remoteAddress) && !isForOthers(headers);
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

/** A proxy on this machine forwards requests of others, and a browser on it sends requests of web pages. */
function isForOthers(headers: IncomingHttpHeaders): boolean {
  const { host = '', origin } = headers;
  const isForwarded = FORWARDED.some((name) => headers[name] !== undefined);
  return isForwarded || !isOwnName(host) || (origin !== undefined && !isOwnOrigin(origin, host));
}

/** Whether a host is an address or a name without a domain, which no foreign name server can lead to this machine. */
function isOwnName(host: string): boolean {
  const name = nameIn(host);
  return /^[a-z0-9-]*$/.test(name) || name.endsWith('.localhost') || isIPv4(name) || /^\[[0-9a-f:.]+\]$/.test(name);
}

/** Whether a page has the host of the request or comes from this machine. The origin `null` is that of pages in a sandbox. */
function isOwnOrigin(origin: string, host: string): boolean {
  const [, from] = /^https?:\/\/(.+)$/.exec(origin) ?? [];
  if (from === undefined) return false;
  const name = nameIn(from);
  return name === nameIn(host) || name === 'localhost' || name.endsWith('.localhost') || isLoopback(bare(name));
}

/** The name of a host without its port. */
const nameIn = (host: string): string => host.replace(/:\d+$/, '').toLowerCase();

/** An IPv6 address without its brackets. */
const bare = (name: string): string => name.replace(/^\[(.*)\]$/, '$1');

function isLoopback(address: string): boolean {
  const mapped = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
  return isIPv4(mapped) ? mapped.startsWith('127.') : mapped === '::1';
}

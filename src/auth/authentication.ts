import { timingSafeEqual } from 'node:crypto';
import { Unauthenticated } from '../resources/errors.ts';
import { subjectOf } from '../rules/rbac.ts';
import { digestApiKey } from '../store/api-key-digest.ts';
import type { ResourceStore } from '../store/resource-store.ts';
import type { LoginSessions } from './login-sessions.ts';
import type { Caller } from './caller.ts';

/** The only accepted form of a key, tested before any lookup. */
const KEY = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Returns the caller that the credentials belong to. @throws Unauthenticated */
type Scheme = (credentials: string) => Caller | Promise<Caller>;

export interface AuthenticationPorts {
  resources: Pick<ResourceStore, 'get'>;
  sessions: Pick<LoginSessions, 'callerOf'>;
}

/** Identifies the caller of a request by its `Authorization` header alone. */
export class Authentication {
  readonly #resources: AuthenticationPorts['resources'];
  /** The schemes, by the case-sensitive word before the first space. */
  readonly #schemes: ReadonlyMap<string, Scheme>;

  constructor({ resources, sessions }: AuthenticationPorts) {
    this.#resources = resources;
    this.#schemes = new Map<string, Scheme>([
      ['Bearer', (token) => sessions.callerOf(token)],
      ['Key', (key) => this.#callerOfKey(key)],
    ]);
  }

  /**
   * Returns the caller at once if no signature must be verified.
   *
   * @throws Unauthenticated, also when the user was deleted or disabled since the token or key was created, or the
   * session ended
   */
  callerOf(authorization = ''): Caller | Promise<Caller> {
    const blank = authorization.indexOf(' ');
    const scheme = blank < 0 ? undefined : this.#schemes.get(authorization.slice(0, blank));
    if (scheme === undefined) throw new Unauthenticated('bad credentials');
    return scheme(authorization.slice(blank + 1));
  }

  #callerOfKey(key: string): Caller {
    if (!KEY.test(key)) throw new Unauthenticated('invalid credentials');
    const digest = digestApiKey(key);
    const stored = this.#resources.get('apikeys', undefined, digest.name);
    const isKnown = stored !== undefined && isSame(Buffer.from(stored.hash), Buffer.from(digest.hash));
    const user = isKnown ? this.#resources.get('users', undefined, stored.username) : undefined;
    if (user?.disabled !== false) throw new Unauthenticated('invalid credentials');
    return { ...subjectOf(user), key: digest.name };
  }
}

const isSame = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);

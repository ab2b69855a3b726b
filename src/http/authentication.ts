import { hash, timingSafeEqual } from 'node:crypto';
import { Unauthenticated } from '../resources/errors.ts';
import type { User } from '../resources/user.ts';
import type { ResourceStore } from '../store/resource-store.ts';
import { type AccessTokens, USERS_GROUP } from './access-tokens.ts';
import type { Caller } from './route.ts';

/** The one spelling of a key; tested before anything is looked up. */
const KEY = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const BEARER = 'Bearer ';
const KEY_SCHEME = 'Key ';

export interface AuthenticationPorts {
  resources: Pick<ResourceStore, 'get' | 'list'>;
  tokens: AccessTokens;
}

/** Finds out who sends a request from its `Authorization` header. */
export class Authentication {
  readonly #resources: AuthenticationPorts['resources'];
  readonly #tokens: AccessTokens;

  constructor({ resources, tokens }: AuthenticationPorts) {
    this.#resources = resources;
    this.#tokens = tokens;
  }

  /** @throws Unauthenticated also when the user is gone or disabled since the token or key was made */
  async callerOf(authorization: string | undefined): Promise<Caller> {
    if (authorization?.startsWith(BEARER) === true) return this.#callerOfToken(authorization.slice(BEARER.length));
    if (authorization?.startsWith(KEY_SCHEME) === true)
      return this.#callerOfKey(authorization.slice(KEY_SCHEME.length));
    throw new Unauthenticated('bad credentials');
  }

  async #callerOfToken(token: string): Promise<Caller> {
    const caller = await this.#tokens.callerOf(token);
    this.#activeUser(caller.username);
    return caller;
  }

  #callerOfKey(key: string): Caller {
    if (!KEY.test(key)) throw new Unauthenticated('invalid credentials');
    const wanted = Buffer.from(hash('sha256', key, 'hex'));
    const stored = this.#resources.list('apikeys').items.find((apiKey) => isSame(Buffer.from(apiKey.hash), wanted));
    if (stored === undefined) throw new Unauthenticated('invalid credentials');
    const { username, groups } = this.#activeUser(stored.username);
    return { username, groups: [...(groups ?? []), USERS_GROUP] };
  }

  #activeUser(username: string): User {
    const user = this.#resources.get('users', undefined, username);
    if (user === undefined || user.disabled) throw new Unauthenticated('invalid credentials');
    return user;
  }
}

const isSame = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);

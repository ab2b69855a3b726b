import type { Clock } from '../ports/clock.ts';
import type { ResourceStore } from '../store/resource-store.ts';
import { AccessControl } from './access-control.ts';
import { AccessTokens, type EllipticKeys, type TokenLifetimes } from './access-tokens.ts';
import { Authentication } from './authentication.ts';
import { Credentials, type VerifyHash } from './credentials.ts';
import { LoginSessions, type LoginSessionsPorts } from './login-sessions.ts';
import { LoginThrottle } from './login-throttle.ts';
import { Tickets } from './tickets.ts';

export interface AuthPorts extends Pick<LoginSessionsPorts, 'commands' | 'log'> {
  resources: ResourceStore;
  /** 32 random bytes, identical on all backends of a cluster. */
  tokenSecret: Uint8Array;
  /** When present, these keys sign tokens instead of the secret. */
  tokenKeys?: EllipticKeys | undefined;
  tokenLifetimes?: TokenLifetimes | undefined;
  /** Compares a password with its hash; with bcrypt by default. */
  verifyHash?: VerifyHash | undefined;
  /** The cost of the hashes of new passwords; the usual one by default. */
  bcryptCost?: number | undefined;
  clock: Clock;
}

/** The parts that authenticate callers and authorize requests, one of each for all ports of a backend. */
export interface Auth {
  access: AccessControl;
  authentication: Authentication;
  credentials: Credentials;
  loginSessions: LoginSessions;
  throttle: LoginThrottle;
  tickets: Tickets;
  tokens: AccessTokens;
}

export function createAuth(ports: AuthPorts): Auth {
  const { resources, tokenSecret, tokenKeys, tokenLifetimes, verifyHash, bcryptCost, clock } = ports;
  const tokens = new AccessTokens({ secret: tokenSecret, keys: tokenKeys, lifetimes: tokenLifetimes, clock });
  const loginSessions = new LoginSessions({ ...ports, tokens });
  return {
    access: new AccessControl(resources),
    authentication: new Authentication({ resources, sessions: loginSessions }),
    credentials: new Credentials(resources, verifyHash, bcryptCost),
    loginSessions,
    throttle: new LoginThrottle(clock),
    tickets: new Tickets({ resources, clock }),
    tokens,
  };
}

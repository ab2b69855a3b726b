import type { IncomingHttpHeaders } from 'node:http';
import type { AccessRequest } from '../../rules/rbac.ts';
import type { Answer } from '../request/route.ts';

/** The caller of a request of the first generation. */
export interface EarlierCaller {
  /** The user name in the ledger. */
  username: string;
  /** Whether the request had no credentials. */
  isAnonymous: boolean;
  may(request: AccessRequest): boolean;
}

/** A request after authentication and routing. */
export interface EarlierRequest {
  params: Readonly<Record<string, string>>;
  /** Decoded; of equal names the last one counts. A name without `=` has an empty value. */
  query: ReadonlyMap<string, string>;
  caller: EarlierCaller;
  /** The parsed object; `{}` for a route that reads none. */
  body: Readonly<Record<string, unknown>>;
  /** The path as it was sent, without the query. */
  path: string;
  headers: IncomingHttpHeaders;
  remoteAddress: string;
  /** Whether the client has closed its connection, so that the response cannot reach it. */
  isDisconnected(this: void): boolean;
  /** Whether it came over TLS. */
  isSecure: boolean;
}

export interface EarlierAnswer extends Answer {
  /** The values of the headers `Set-Cookie`. */
  cookies?: readonly string[];
}

export interface EarlierRoute {
  method: 'GET' | 'POST' | 'DELETE';
  /** `:word` is a parameter that matches one segment. */
  path: string;
  /** The members of the body that are integers. */
  integers?: readonly string[];
  /** Whether callers without valid credentials are answered too; they may do nothing. */
  isPublic?: true;
  handle(request: EarlierRequest): EarlierAnswer | Promise<EarlierAnswer>;
}

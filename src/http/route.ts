import type { Subject, Verb } from '../rules/rbac.ts';
import type { Conditions } from './conditions.ts';

/** Whoever sends a request: who they are, and the groups that count for them. */
export interface Caller extends Subject {
  /** Id of the session that the access token belongs to; a key has none. */
  session?: string;
}

/** Decides whether a request may be made at all, before its body is read. */
export type Access =
  /** Without credentials. */
  | 'open'
  /** Anybody with valid credentials; the handler shows each what he may see. */
  | 'authenticated'
  | {
      resource: string;
      verb: Verb;
      /** Parameters of the path that make the name, joined by slashes; none for lists and POST. */
      nameFrom?: readonly string[];
      /** Stands before those parameters. */
      namePrefix?: string;
      /** Counts in place of `resource` where the name is the caller's own. */
      ownResource?: string;
      /** The parameter that is the namespace, `namespace` unless told; without such a parameter the request is cluster-wide. */
      namespaceFrom?: string;
    };

export interface RouteRequest {
  /** Parameters of the path, percent-decoded once. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly caller: Caller;
  /** The object of the body; `{}` when the route does not read one. */
  readonly body: object;
  readonly authorization: string | undefined;
  readonly conditions: Conditions;
  /** The other end of the connection, whatever headers say: of a proxy it is the proxy's. */
  readonly remoteAddress: string;
  /** `http` or `https`. */
  readonly protocol: string;
  /** As the client named it, with the port. */
  readonly host: string;
}

export interface Answer {
  status: number;
  /** Absent = empty. One in parts is made while it is sent, with other work between two parts. */
  body?: string | Iterable<string>;
  type?: 'application/json' | 'text/plain; charset=utf-8';
  headers?: Readonly<Record<string, string>>;
}

/** A row of the table from which requests are routed and the API is described. */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `:word` is a parameter: one segment that is not empty. */
  path: string;
  access: Access;
  /** Refuses by the `Authorization` header alone, before the body is read; for routes that are `open`. */
  admit?(authorization: string | undefined): Promise<void>;
  /** An optional body that is empty is `{}`; a merge patch is nothing but one object, of that content type. */
  reads: 'nothing' | 'json' | 'optional-json' | 'merge-patch';
  /** Errors as text with a newline: what clients of this route expect. */
  errorsAs?: 'text';
  handle(request: RouteRequest): Answer | Promise<Answer>;
}

/** Where most of the API lives. */
export const CORE = '/api/core/v2';

/** A parameter that the route's path has. */
export function param(request: RouteRequest, name: string): string {
  const value = request.params[name];
  if (value === undefined) throw new Error(`the path of this route has no parameter ${name}`);
  return value;
}

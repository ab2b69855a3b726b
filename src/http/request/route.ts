import type { TSchema } from 'typebox';
import type { ErrorCode } from '../../resources/errors.ts';
import type { Caller } from '../../auth/caller.ts';
import type { Verb } from '../../rules/rbac.ts';
import type { Conditions } from './conditions.ts';

/** Who may call a route. The check precedes reading the body. */
export type Access =
  /** No credentials needed. */
  | 'open'
  /** Any valid credentials; the handler filters by what the caller may see. */
  | 'authenticated'
  | {
      resource: string;
      verb: Verb;
      /** Path parameters that form the resource name, joined by slashes; none for lists and POST. */
      nameFrom?: readonly string[];
      namePrefix?: string;
      /** Replaces `resource` when the name is that of the caller. */
      ownResource?: string;
      /**
       * The path parameter with the namespace; defaults to `namespace`. Without that parameter the request is
       * cluster-wide.
       */
      namespaceFrom?: string;
    };

export interface RouteRequest {
  /** Path parameters, percent-decoded once. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly caller: Caller;
  /** The parsed object or array; `{}` when the route reads no body. */
  readonly body: object;
  readonly authorization: string | undefined;
  readonly conditions: Conditions;
  /** Whether the client has closed its connection, so that the response cannot reach it. */
  isDisconnected(this: void): boolean;
  /** The entity tag that GET returns for this stored object. */
  tagOf(this: void, stored: object): string;
  /** Peer address of the connection, regardless of headers. Behind a proxy it is that of the proxy. */
  readonly remoteAddress: string;
  /** `http` or `https`. */
  readonly protocol: string;
  /** Host and port from the `Host` header. */
  readonly host: string;
}

export type AnswerType =
  | 'application/json'
  | 'text/plain; charset=utf-8'
  | 'text/html; charset=utf-8'
  | 'text/css; charset=utf-8'
  | 'text/javascript; charset=utf-8';

export interface Answer {
  status: number;
  /** Empty when absent. An iterable is produced while it is sent, yielding to other work between two parts. */
  body?: string | Buffer | Iterable<string>;
  type?: AnswerType;
  headers?: Readonly<Record<string, string>>;
  /** JSON of the stored object, when the response has an entity tag. */
  tagSource?: string;
}

/** The response for one status, as the API description shows it. */
export interface DescribedAnswer {
  /** Empty body when absent. */
  schema?: TSchema;
  /** Content type; defaults to JSON. */
  type?: string;
  headers?: readonly ('ETag' | 'Location' | 'Sensu-Continue')[];
}

/** Documentation of a route, in addition to what follows from its other members. */
export interface Description {
  /** One line, without a full stop. */
  summary: string;
  /** Group of operations; defaults to the resource of `access`. */
  tag?: string;
  /** Schema of the request body; for a merge patch, schema of the patched resource. */
  body?: TSchema;
  /** Responses to successful requests, by status. */
  answers: Readonly<Record<number, DescribedAnswer>>;
  /** Query parameters, by name. */
  query?: Readonly<Record<string, TSchema>>;
  /** Errors specific to this route. */
  errors?: readonly ErrorCode[];
  /** Overrides the accepted authentication schemes; an open route accepts none by default. */
  credentials?: readonly ('basic' | 'bearer')[];
}

/** An entry of the routing table. The API description is generated from the same table. */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `:word` is a parameter that matches one non-empty segment. */
  path: string;
  access: Access;
  /** Rejects a request by its `Authorization` header, before the body is read. For `open` routes only. */
  admit?(authorization: string | undefined): Promise<void>;
  /**
   * How the body is parsed. `optional-json` also accepts an empty body, as `{}`. A merge patch is exactly one object and
   * requires its content type. A form yields the first value of each field; a body with another content type counts as
   * an empty form.
   */
  reads: 'nothing' | 'json' | 'optional-json' | 'json-array' | 'merge-patch' | 'form';
  /** Available while the API is still starting. */
  availableAtStartup?: true;
  /** Sends errors as a line of text, which clients of this route expect. */
  errorsAs?: 'text';
  description: Description;
  handle(request: RouteRequest): Answer | Promise<Answer>;
}

/** Path prefix of the core API. */
export const CORE = '/api/core/v2';

/** @throws Error when the path of the route has no such parameter */
export function param(request: RouteRequest, name: string): string {
  const value = request.params[name];
  if (value === undefined) throw new Error(`the path of this route has no parameter ${name}`);
  return value;
}

import type { TSchema } from 'typebox';
import type { ErrorCode } from '../../resources/errors.ts';
import type { Caller } from '../../auth/caller.ts';
import type { Verb } from '../../rules/rbac.ts';
import type { Conditions } from './conditions.ts';

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
  /** The object or array of the body; `{}` when the route does not read one. */
  readonly body: object;
  readonly authorization: string | undefined;
  readonly conditions: Conditions;
  /** Whether whoever asked has closed his connection, so that nobody reads the answer. */
  isGone(this: void): boolean;
  /** The tag that a GET of what is stored has. */
  tagOf(this: void, stored: object): string;
  /** The other end of the connection, whatever headers say: of a proxy it is the proxy's. */
  readonly remoteAddress: string;
  /** `http` or `https`. */
  readonly protocol: string;
  /** As the client named it, with the port. */
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
  /** Absent = empty. One in parts is made while it is sent, with other work between two parts. */
  body?: string | Buffer | Iterable<string>;
  type?: AnswerType;
  headers?: Readonly<Record<string, string>>;
  /** The JSON of what is stored, where the answer has the tag of that. */
  taggedAs?: string;
}

/** What a row answers with one status. */
export interface DescribedAnswer {
  /** Absent = an empty body. */
  schema?: TSchema;
  /** JSON unless told. */
  type?: string;
  headers?: readonly ('ETag' | 'Location' | 'Sensu-Continue')[];
}

/** What a row says to those who call it, beyond what its other members say. */
export interface Description {
  /** One line, without a full stop. */
  summary: string;
  /** What it is shown together with; the resource of its access unless told. */
  tag?: string;
  /** Of a merge patch: of what is patched. */
  body?: TSchema;
  /** When all is well, by status. */
  answers: Readonly<Record<number, DescribedAnswer>>;
  /** Parameters after `?`, by name. */
  query?: Readonly<Record<string, TSchema>>;
  /** Refusals that only this row has. */
  errors?: readonly ErrorCode[];
  /** What it takes in place of the usual two; an open row takes none unless told. */
  credentials?: readonly ('basic' | 'bearer')[];
}

/** A row of the table from which requests are routed and the API is described. */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `:word` is a parameter: one segment that is not empty. */
  path: string;
  access: Access;
  /** Refuses by the `Authorization` header alone, before the body is read; for routes that are `open`. */
  admit?(authorization: string | undefined): Promise<void>;
  /**
   * A merge patch is nothing but one object, of that content type. Of a form each first value is a member; what is no form by its
   * content type has none.
   */
  reads: 'nothing' | 'json' | 'json-array' | 'merge-patch' | 'form';
  /** Also while the API has just started and answers nothing else. */
  servesAtOnce?: true;
  /** Errors as text with a newline: what clients of this route expect. */
  errorsAs?: 'text';
  describes: Description;
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

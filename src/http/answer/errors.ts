import type { Context } from 'koa';
import type { Log } from '../../ports/log.ts';
import { type ErrorCode, ExpectedError, TooManyLogins } from '../../resources/errors.ts';
import type { Answer } from '../request/route.ts';
import { send } from './send.ts';

export interface ErrorKind {
  status: number;
  /** Numeric code in the response body; part of the API. */
  code: number;
  /** Default for errors without a message. */
  message: string;
}

export const INTERNAL: ErrorKind = { status: 500, code: 0, message: 'internal error occurred' };

export const KINDS: Record<ErrorCode, ErrorKind> = {
  'invalid-resource': { status: 400, code: 1, message: 'invalid argument(s) received' },
  'not-found': { status: 404, code: 2, message: 'not found' },
  'already-exists': { status: 409, code: 3, message: 'resource already exists' },
  conflict: { status: 409, code: 3, message: 'the state of the resource does not allow this' },
  forbidden: { status: 403, code: 4, message: 'unauthorized to perform action' },
  unauthenticated: { status: 401, code: 5, message: 'unauthenticated' },
  'entity-limit': { status: 402, code: 6, message: 'license required' },
  'stale-revision': { status: 412, code: 7, message: 'precondition failed' },
  'too-large': { status: 413, code: 1, message: 'request body too large' },
  'not-supported': { status: 500, code: 0, message: 'not supported' },
  'store-unavailable': { status: 503, code: 0, message: 'the store cannot be written now' },
  overloaded: { status: 503, code: 0, message: 'too many requests are waiting' },
  'too-many-logins': { status: 429, code: 0, message: 'too many failed logins' },
};

const RETRY_AFTER_S = 1;

/** Answers a request that failed. */
export function sendError(context: Context, error: unknown, log: Log): void {
  send(context, errorAnswer(error, { log, request: context, asText: context.state['errorsAs'] === 'text' }));
}

export interface ErrorAnswerPorts {
  log: Log;
  request: { method: string; path: string };
  asText: boolean;
}

export interface ErrorAnswer extends Answer {
  body: string;
}

/** Maps an error to a response. An unexpected error is a bug: it is logged and answered without detail. */
export function errorAnswer(error: unknown, { log, request: { method, path }, asText }: ErrorAnswerPorts): ErrorAnswer {
  if (error instanceof TooManyLogins) {
    return asAnswer(KINDS[error.code], error.message, asText, error.retryAfterS);
  }
  if (error instanceof ExpectedError) return asAnswer(KINDS[error.code], error.message, asText);
  log.error({ err: error, method, path }, 'request failed');
  return asAnswer(INTERNAL, INTERNAL.message, asText);
}

function asAnswer(
  { status, code, message: usual }: ErrorKind,
  message: string,
  asText: boolean,
  retryAfterS = status === 503 ? RETRY_AFTER_S : undefined,
): ErrorAnswer {
  const shown = message === '' ? usual : message;
  return {
    status,
    type: asText ? 'text/plain; charset=utf-8' : 'application/json',
    body: asText ? `${shown}\n` : JSON.stringify({ message: shown, code }),
    headers: {
      'X-Content-Type-Options': 'nosniff',
      ...(retryAfterS === undefined ? {} : { 'Retry-After': String(retryAfterS) }),
    },
  };
}

/** What a caller may do wrong or must expect. Anything else that is thrown is a bug. Every code has one HTTP status, in `http/errors.ts`. */
export type ErrorCode =
  | 'invalid-resource'
  | 'not-found'
  | 'already-exists'
  | 'unauthenticated'
  | 'forbidden'
  | 'entity-limit'
  | 'stale-revision'
  | 'too-large'
  | 'not-supported'
  | 'store-unavailable'
  | 'overloaded'
  | 'too-many-logins';

export abstract class ExpectedError extends Error {
  abstract readonly code: ErrorCode;
}

/** A value that breaks a rule of its resource; the message names the field and the rule. */
export class InvalidResource extends ExpectedError {
  readonly code = 'invalid-resource';
}

export class NotFound extends ExpectedError {
  readonly code = 'not-found';
}

export class AlreadyExists extends ExpectedError {
  readonly code = 'already-exists';
}

export class Unauthenticated extends ExpectedError {
  readonly code = 'unauthenticated';
}

export class Forbidden extends ExpectedError {
  readonly code = 'forbidden';
}

/** One entity more than the instance allows. */
export class EntityLimitReached extends ExpectedError {
  readonly code = 'entity-limit';
  /** `<namespace>/<name>` of the one that there is no room for. */
  readonly entity: string;

  constructor(limit: number, entity: string) {
    super(`entity limit reached: this instance allows ${limit} entities`);
    this.entity = entity;
  }
}

/** A compare-and-swap that lost, or an `If-Match` that does not hold. */
export class StaleRevision extends ExpectedError {
  readonly code = 'stale-revision';
}

export class TooLarge extends ExpectedError {
  readonly code = 'too-large';
}

/** What the interface has, and a backend that is alone cannot do. */
export class NotSupported extends ExpectedError {
  readonly code = 'not-supported';
}

/** The store cannot be written now (no space, I/O error). Nothing of the request was kept. */
export class StoreUnavailable extends ExpectedError {
  readonly code = 'store-unavailable';
}

/** Logins failed too often, for this account or from this address. */
export class TooManyLogins extends ExpectedError {
  readonly code = 'too-many-logins';
  /** Whole seconds until the next attempt counts. */
  readonly retryAfterS: number;

  constructor(retryAfterS: number) {
    super(`too many failed logins: try again in ${retryAfterS} s`);
    this.retryAfterS = retryAfterS;
  }
}

/** A bounded queue is full. Nothing of the request was kept; the caller may send it again later. */
export class Overloaded extends ExpectedError {
  readonly code = 'overloaded';
}

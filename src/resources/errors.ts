/** An error that callers expect; any other error is a bug. Each code has one HTTP status, in `http/answer/errors.ts`. */
export type ErrorCode =
  | 'invalid-resource'
  | 'not-found'
  | 'already-exists'
  | 'conflict'
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

/** The state of a resource does not allow the change. */
export class Conflict extends ExpectedError {
  readonly code = 'conflict';
}

export class Unauthenticated extends ExpectedError {
  readonly code = 'unauthenticated';
}

export class Forbidden extends ExpectedError {
  readonly code = 'forbidden';
}

/** An entity is not created. */
export abstract class EntityRejected extends ExpectedError {
  /** `<namespace>/<name>`. */
  readonly entity: string;

  constructor(message: string, entity: string) {
    super(message);
    this.entity = entity;
  }
}

/** The entity would exceed the entity limit. */
export class EntityLimitReached extends EntityRejected {
  readonly code = 'entity-limit';

  constructor(limit: number, entity: string) {
    super(`entity limit reached: this instance allows ${limit} entities`, entity);
  }
}

/** The limit that an entity exceeds. */
export type EntityBound = 'checks' | 'bytes';

/** The results of one entity would exceed what may be stored of it. */
export class EntityFull extends ExpectedError {
  readonly code = 'entity-limit';
  /** `<namespace>/<name>`. */
  readonly entity: string;

  constructor(entity: string, bound: EntityBound, limit: number) {
    super(
      bound === 'checks'
        ? `entity ${entity} is full: its results may have ${limit} checks (--entity-check-limit)`
        : `entity ${entity} is full: its large results may have ${limit} bytes (--entity-size-limit)`,
    );
    this.entity = entity;
  }
}

/** A user has deleted an entity and said that nothing but an API may create it again. */
export class EntityRefused extends EntityRejected {
  readonly code = 'conflict';

  constructor(entity: string) {
    super(`entity ${entity} was deleted with invalidate and is refused until an API creates it again`, entity);
  }
}

/** A conditional change whose condition (`If-Match`) does not hold. */
export class StaleRevision extends ExpectedError {
  readonly code = 'stale-revision';
}

export class TooLarge extends ExpectedError {
  readonly code = 'too-large';
}

/** An operation on a cluster, which a single backend does not support. */
export class NotSupported extends ExpectedError {
  readonly code = 'not-supported';
}

/** The store cannot be written now (no space, I/O error). Nothing of the request was stored. */
export class StoreUnavailable extends ExpectedError {
  readonly code = 'store-unavailable';
}

/** Too many logins failed for this account or from this address. */
export class TooManyLogins extends ExpectedError {
  readonly code = 'too-many-logins';
  /** Whole seconds until the next attempt is accepted. */
  readonly retryAfterS: number;

  constructor(retryAfterS: number) {
    super(`too many failed logins: try again in ${retryAfterS} s`);
    this.retryAfterS = retryAfterS;
  }
}

/** A bounded queue is full. Nothing of the request was stored; the caller may retry later. */
export class Overloaded extends ExpectedError {
  readonly code = 'overloaded';
}

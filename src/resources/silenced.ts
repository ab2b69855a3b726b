import { type Static, Type } from 'typebox';
import { InvalidResource } from './errors.ts';
import { assertMetaBounds } from './meta-bounds.ts';
import { assertName, assertSubname } from './names.ts';
import { ObjectMetaSchema, objectMetaWithDefaults } from './object-meta.ts';
import { flag, int64, optional, orAbsent, text, validator } from './schema.ts';

/** Matches every subscription, or every check. */
export const ANY = '*';

/** The value of `expire` for an entry without an end. */
const NEVER_S = -1;
/** The last second that can be written as a date. */
const MAX_TIME_S = 8_640_000_000_000;

/** The limits of an installation in seconds; 0 = no limit. */
export interface SilenceLimits {
  /** The duration of an entry that names no end. */
  readonly defaultS: number;
  /** The longest duration. */
  readonly longestS: number;
}

export const NO_SILENCE_LIMITS: SilenceLimits = { defaultS: 0, longestS: 0 };

const NAME = /^[\w.:*-]+$/;
/** The maximum length of a subscription and a check together, with the colon between them. */
const MAX_NAME_LENGTH = 1_201;

export const SilencedSchema = Type.Object(
  {
    metadata: optional(ObjectMetaSchema),
    subscription: optional(text('subscription whose events are silenced; empty or * = all')),
    check: optional(text('empty or * = all')),
    reason: optional(text()),
    creator: optional(text('set by the backend')),
    begin: optional(int64('Unix seconds; 0 = now')),
    expire: optional(int64('seconds from begin; 0 or less = no end')),
    expire_at: optional(int64('Unix seconds of the last second in which it applies; 0 = by expire')),
    expire_on_resolve: optional(flag()),
  },
  { $id: 'core/v2.Silenced' },
);

export type Silenced = ReturnType<typeof silencedWithDefaults>;

/** `pending` until the ledger records its start. */
export type SilenceState = 'pending' | 'active';

/** A stored entry. */
export type SilenceRecord = Silenced & { state: SilenceState };

export function silencedWithDefaults(input: Static<typeof SilencedSchema>) {
  return {
    metadata: objectMetaWithDefaults(input.metadata),
    expire: input.expire ?? 0,
    expire_on_resolve: input.expire_on_resolve ?? false,
    creator: orAbsent(input.creator),
    check: orAbsent(input.check),
    reason: orAbsent(input.reason),
    subscription: orAbsent(input.subscription),
    begin: input.begin ?? 0,
    expire_at: input.expire_at ?? 0,
  };
}

const validateShape = validator('silenced', SilencedSchema);

/** Validates the shape and sets defaults; does not check the rules. @throws InvalidResource */
export function parseSilencedShape(value: unknown): Silenced {
  return silencedWithDefaults(validateShape(value));
}

/** Returns the name of an entry, which follows from what it silences. */
export function silencedName({ subscription = ANY, check = ANY }: Pick<Silenced, 'subscription' | 'check'>): string {
  return `${subscription}:${check}`;
}

/** Reports whether an entry can have this name, which then can be part of a key. */
export const isSilencedName = (value: string): boolean =>
  NAME.test(value) && value !== '.' && value !== '..' && value.length <= MAX_NAME_LENGTH;

/** @throws InvalidResource with the rule it breaks */
export function assertSilenced(silenced: Silenced): void {
  assertMetaBounds(silenced.metadata);
  const { subscription, check } = silenced;
  if (subscription === check && (check === undefined || check === ANY)) {
    throw new InvalidResource('must provide check or subscription');
  }
  if (subscription !== undefined && subscription !== ANY) assertSubname(subscription, 'Subscription');
  if (check !== undefined && check !== ANY) assertName(check, 'Check');
  for (const field of ['begin', 'expire', 'expire_at'] as const) {
    if (silenced[field] > MAX_TIME_S) throw new InvalidResource(`${field} must be at most ${MAX_TIME_S}`);
  }
  if (silenced.expire_at < 0) throw new InvalidResource('expire_at must be >= 0');
}

/**
 * Sets the start and the end of an entry that is written at `nowS`. An end that was sent takes precedence over `expire`,
 * which counts from `nowS` when the entry begins before 1970.
 * @throws InvalidResource when it exceeds the longest duration
 */
export function withTimes(silenced: Silenced, nowS: number, limits: SilenceLimits): Silenced {
  const begin = silenced.begin === 0 ? nowS : silenced.begin;
  const countsFrom = Math.max(begin, 0) || nowS;
  const namesEnd = silenced.expire_at > 0 || silenced.expire > 0;
  const expire = namesEnd ? silenced.expire : limits.defaultS || limits.longestS;
  const expire_at = silenced.expire_at === 0 && expire > 0 ? countsFrom + expire : silenced.expire_at;
  if (limits.longestS > 0 && expire_at - countsFrom > limits.longestS) {
    throw new InvalidResource(`a silence must end within ${limits.longestS} seconds of its start`);
  }
  return { ...silenced, begin, expire_at, expire: expire_at === 0 ? NEVER_S : expire };
}

import { Type } from 'typebox';
import { InvalidResource } from '../../resources/errors.ts';
import type { NotificationFilter } from '../../store/notification-search.ts';
import { type Outcome, OUTCOMES } from '../../store/records/records.ts';
import {
  assertKnownParameters,
  limitParameter,
  textParameter,
  TIME,
  timeParameter,
  enumParameter,
} from '../request/query-parameters.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
/** The longest name that the store accepts. */
const MAX_NAMES_BYTES = 1_500;
/** Positions: a number, or a number and the names of an entity and a check. */
const POSITION = /^\d{16}(\/[^/]{0,500}\/[^/]{0,500})?$/;

/** The outcome of what is still in the outbox. */
export const WAITING = 'waiting';

/** The parameters of the search, for the API description. No others are accepted. */
export const NOTIFICATION_PARAMETERS = {
  entity: Type.String(),
  check: Type.String(),
  handler: Type.String(),
  pipeline: Type.String(),
  outcome: Type.Enum([...OUTCOMES, WAITING], {
    description: `\`${WAITING}\` lists what is still in the outbox; without it, only outcomes are listed`,
  }),
  since: Type.String({ description: `Last outcome at this time or later: ${TIME}` }),
  until: Type.String({ description: `Decided at this time or before: ${TIME}` }),
  dead_letter: Type.Enum(['true', 'false'], { description: 'Whether the event is kept and can be replayed' }),
  limit: Type.Integer({
    minimum: 1,
    description: `Maximum number of notifications in a page, up to ${MAX_LIMIT}; ${DEFAULT_LIMIT} by default`,
  }),
  continue: Type.String({ description: 'Value of the header `Sensu-Continue` of the previous page' }),
};

export interface NotificationPageRequest {
  filter: Omit<NotificationFilter, 'namespace'>;
  isWaiting: boolean;
  limit: number;
  after: string | undefined;
}

/** Parses the parameters of the search. An empty value means that the parameter is absent. @throws InvalidResource naming the invalid parameter */
export function notificationPageRequest(query: URLSearchParams): NotificationPageRequest {
  assertKnownParameters(query, Object.keys(NOTIFICATION_PARAMETERS));
  const filter: Omit<NotificationFilter, 'namespace'> = {};
  for (const name of ['entity', 'check', 'handler', 'pipeline'] as const) {
    const text = textParameter(query, name);
    if (text !== undefined) filter[name] = text;
  }
  if (Buffer.byteLength(`${filter.entity}${filter.check}`) > MAX_NAMES_BYTES) {
    throw new InvalidResource(`entity and check must have at most ${MAX_NAMES_BYTES} bytes together`);
  }
  const outcome = enumParameter(query, 'outcome', [...OUTCOMES, WAITING]);
  if (outcome !== undefined && outcome !== WAITING) filter.outcome = outcome satisfies Outcome;
  const [sinceMs, untilMs] = [timeParameter(query, 'since'), timeParameter(query, 'until')];
  if (sinceMs !== undefined) filter.sinceMs = sinceMs;
  if (untilMs !== undefined) filter.untilMs = untilMs;
  const deadLetter = enumParameter(query, 'dead_letter', ['true', 'false']);
  if (deadLetter !== undefined) filter.isDeadLetter = deadLetter === 'true';
  const after = textParameter(query, 'continue');
  if (after !== undefined && !POSITION.test(after))
    throw new InvalidResource('continue is not a value of Sensu-Continue');
  const isWaiting = outcome === WAITING;
  const limit = limitParameter(query, { byDefault: DEFAULT_LIMIT, max: MAX_LIMIT });
  return { filter, isWaiting, limit, after };
}

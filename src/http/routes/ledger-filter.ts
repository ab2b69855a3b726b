import { Type } from 'typebox';
import { PUBLISHED_MACHINES } from '../../actors/inspection/published-machines.ts';
import { InvalidResource } from '../../resources/errors.ts';
import { CAUSE_KINDS, type CauseKind } from '../../store/ledger/ledger.ts';
import type { LedgerQuery } from '../../store/ledger/ledger-query.ts';
import {
  assertKnownParameters,
  enumParameter,
  isTime,
  limitParameter,
  TIME,
  timeParameter,
  wholeNumberParameter,
} from '../request/query-parameters.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
/** The value of `from` and `to` for an actor or a resource that does not exist. */
const NOTHING = 'null';
/** The states of what has no machine: resources, dead letters, the outbox and the backend itself. */
const RECORDED_STATES = ['blind', 'dead-letter', 'initialized', 'quarantined', 'stored', 'waiting', 'watching'];
/** The states that entries of the ledger have. */
const STATES: ReadonlySet<string> = new Set(
  [
    ...PUBLISHED_MACHINES.flatMap(({ definition }) => Object.keys(definition.states ?? {})),
    ...RECORDED_STATES,
  ].toSorted(),
);
const CAUSES = Object.keys(CAUSE_KINDS) as CauseKind[];

/** The parameters of the ledger, for the API description. No others are accepted. */
export const LEDGER_PARAMETERS = {
  actor: Type.String({ description: 'Actor kind' }),
  key: Type.String({ description: 'Actor key' }),
  key_prefix: Type.String({ description: 'Beginning of the actor key' }),
  event: Type.String({ description: 'Event of the transition' }),
  user: Type.String({ description: 'User in the cause' }),
  cause: Type.Enum(CAUSES, { description: 'Kind of the cause; an event that a user sent is both `event` and `user`' }),
  from: Type.String({
    description: `State before the transition, \`null\` for none; a time means the same as \`since\``,
  }),
  to: Type.String({ description: `State after the transition, \`null\` for none; a time means the same as \`until\`` }),
  since: Type.String({ description: TIME }),
  until: Type.String({ description: TIME }),
  limit: Type.Integer({
    minimum: 1,
    description: `Maximum number of entries in a page, up to ${MAX_LIMIT}; ${DEFAULT_LIMIT} by default`,
  }),
  continue: Type.Integer({ minimum: 0, description: 'Value of the header `Sensu-Continue` of the previous page' }),
};

/** The text that an entry must have for each parameter. */
const TEXTS = { actor: 'actor', key: 'key', key_prefix: 'keyPrefix', event: 'event', user: 'user' } as const;

/** Parses the parameters of the ledger. An empty value means that the parameter is absent. @throws InvalidResource naming the invalid parameter */
export function ledgerFilter(query: URLSearchParams): LedgerQuery {
  assertKnownParameters(query, Object.keys(LEDGER_PARAMETERS));
  const filter: LedgerQuery = { limit: limitParameter(query, { byDefault: DEFAULT_LIMIT, max: MAX_LIMIT }) };
  for (const [name, member] of Object.entries(TEXTS)) {
    const text = query.get(name) ?? '';
    if (text !== '') filter[member] = text;
  }
  const cause = enumParameter(query, 'cause', CAUSES);
  if (cause !== undefined) filter.cause = cause;
  const begins = [timeParameter(query, 'since'), stateOrTime(query, 'from', filter)].filter(
    (atMs) => atMs !== undefined,
  );
  if (begins.length > 0) filter.sinceMs = Math.max(...begins);
  const ends = [timeParameter(query, 'until'), stateOrTime(query, 'to', filter)].filter((atMs) => atMs !== undefined);
  if (ends.length > 0) filter.untilMs = Math.min(...ends);
  const afterSeq = wholeNumberParameter(query, 'continue');
  if (afterSeq !== undefined) filter.afterSeq = afterSeq;
  return filter;
}

/** Returns a time, or sets the state that an entry must have. No state is written like a time. @throws InvalidResource for any other value */
function stateOrTime(query: URLSearchParams, name: 'from' | 'to', filter: LedgerQuery): number | undefined {
  const value = query.get(name) ?? '';
  if (value === '') return undefined;
  if (isTime(value)) return timeParameter(query, name);
  if (value !== NOTHING && !STATES.has(value)) {
    throw new InvalidResource(
      `${name} must be Unix seconds, an RFC 3339 time, ${NOTHING} or a state: ${[...STATES].join(', ')}`,
    );
  }
  filter[name] = value === NOTHING ? null : value;
  return undefined;
}

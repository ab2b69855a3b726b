import { Type } from 'typebox';
import { InvalidResource } from '../../resources/errors.ts';
import type { LedgerQuery } from '../../store/ledger-query.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
const WHOLE_NUMBER = /^\d{1,15}$/;
const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;
/** The value of `from` and `to` for an actor or a resource that does not exist. */
const NOTHING = 'null';

const TIME = 'Unix seconds or RFC 3339';

/** The parameters of the ledger, for the API description. No others are accepted. */
export const LEDGER_PARAMETERS = {
  actor: Type.String({ description: 'Actor kind' }),
  key: Type.String({ description: 'Actor key' }),
  key_prefix: Type.String({ description: 'Beginning of the actor key' }),
  event: Type.String({ description: 'Event of the transition' }),
  user: Type.String({ description: 'User in the cause' }),
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

/** The texts that an entry must have, by parameter. */
const TEXTS = { actor: 'actor', key: 'key', key_prefix: 'keyPrefix', event: 'event', user: 'user' } as const;

/** Parses the parameters of the ledger. An empty value means that the parameter is absent. @throws InvalidResource naming the invalid parameter */
export function ledgerFilter(query: URLSearchParams): LedgerQuery {
  assertKnown(query);
  const filter: LedgerQuery = { limit: Math.min(wholeNumber(query, 'limit') ?? DEFAULT_LIMIT, MAX_LIMIT) };
  if (filter.limit === 0) throw new InvalidResource('limit must be at least 1');
  for (const [name, member] of Object.entries(TEXTS)) {
    const text = query.get(name) ?? '';
    if (text !== '') filter[member] = text;
  }
  const begins = [time(query, 'since'), stateOrTime(query, 'from', filter)].filter((atMs) => atMs !== undefined);
  if (begins.length > 0) filter.sinceMs = Math.max(...begins);
  const ends = [time(query, 'until'), stateOrTime(query, 'to', filter)].filter((atMs) => atMs !== undefined);
  if (ends.length > 0) filter.untilMs = Math.min(...ends);
  const afterSeq = wholeNumber(query, 'continue');
  if (afterSeq !== undefined) filter.afterSeq = afterSeq;
  return filter;
}

function assertKnown(query: URLSearchParams): void {
  const known = Object.keys(LEDGER_PARAMETERS);
  const unknown = [...query.keys()].find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new InvalidResource(
      `unknown parameter ${JSON.stringify(unknown.slice(0, 100))}; the known ones are ${known.join(', ')}`,
    );
  }
  const repeated = known.find((name) => query.getAll(name).length > 1);
  if (repeated !== undefined) throw new InvalidResource(`${repeated} must not be given more than once`);
}

/** Returns a time; sets any other value as the state that an entry must have. No state is written like a time. */
function stateOrTime(query: URLSearchParams, name: 'from' | 'to', filter: LedgerQuery): number | undefined {
  const value = query.get(name) ?? '';
  if (value === '') return undefined;
  if (WHOLE_NUMBER.test(value) || RFC3339.test(value)) return time(query, name);
  filter[name] = value === NOTHING ? null : value;
  return undefined;
}

function wholeNumber(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name) ?? '';
  if (value === '') return undefined;
  if (!WHOLE_NUMBER.test(value)) throw new InvalidResource(`${name} must be a whole number`);
  return Number(value);
}

/** Unix milliseconds. */
function time(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name) ?? '';
  if (value === '') return undefined;
  const atMs = WHOLE_NUMBER.test(value) ? Number(value) * 1000 : RFC3339.test(value) ? Date.parse(value) : NaN;
  if (Number.isNaN(atMs)) throw new InvalidResource(`${name} must be Unix seconds or an RFC 3339 time`);
  return atMs;
}

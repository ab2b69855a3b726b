import { InvalidResource } from '../../resources/errors.ts';
import type { LedgerEntry } from '../../store/ledger.ts';
import type { LedgerQuery } from '../../store/transactional-store.ts';
import type { Answer, Route } from '../route.ts';

export interface LedgerRoutePorts {
  /** Durable entries in order of numbers. */
  ledger: (query: LedgerQuery) => LedgerEntry[];
}

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
/** No actor or key is longer, and the store takes none that is. */
const MAX_FILTER_BYTES = 1_900;
const WHOLE_NUMBER = /^\d{1,15}$/;
const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;

export function ledgerRoutes({ ledger }: LedgerRoutePorts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/mon/v1/ledger',
      access: { resource: 'ledger', verb: 'list' },
      reads: 'nothing',
      handle: ({ query }) => {
        const asked = ledgerQuery(query);
        if (Buffer.byteLength(`${asked.actor}${asked.key}`) > MAX_FILTER_BYTES) return page([], undefined);
        // One more tells whether this is the last page.
        const found = ledger({ ...asked, limit: asked.limit + 1 });
        const entries = found.slice(0, asked.limit);
        return page(entries, found.length > entries.length ? entries.at(-1)?.seq : undefined);
      },
    },
  ];
}

function page(entries: LedgerEntry[], lastSeq: number | undefined): Answer {
  return {
    status: 200,
    type: 'application/json',
    body: JSON.stringify({ entries }),
    ...(lastSeq === undefined ? {} : { headers: { 'Sensu-Continue': String(lastSeq) } }),
  };
}

/** @throws InvalidResource naming the parameter that cannot be read */
function ledgerQuery(query: URLSearchParams): LedgerQuery {
  const asked: LedgerQuery = { limit: Math.min(wholeNumber(query, 'limit') ?? DEFAULT_LIMIT, MAX_LIMIT) };
  if (asked.limit === 0) throw new InvalidResource('limit must be at least 1');
  const actor = query.get('actor') ?? '';
  if (actor !== '') asked.actor = actor;
  const key = query.get('key') ?? '';
  if (key !== '') asked.key = key;
  const sinceMs = time(query, 'since');
  if (sinceMs !== undefined) asked.sinceMs = sinceMs;
  const untilMs = time(query, 'until');
  if (untilMs !== undefined) asked.untilMs = untilMs;
  const afterSeq = wholeNumber(query, 'continue');
  if (afterSeq !== undefined) asked.afterSeq = afterSeq;
  return asked;
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

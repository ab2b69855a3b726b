import { Type } from 'typebox';
import { InvalidResource } from '../../resources/errors.ts';
import type { LedgerEntry } from '../../store/ledger.ts';
import type { LedgerQuery } from '../../store/transactional-store.ts';
import { nullable } from '../openapi/descriptions.ts';
import type { Answer, Route } from '../request/route.ts';

export interface LedgerRoutePorts {
  /** Durable entries, sorted by number. */
  ledger: (query: LedgerQuery) => LedgerEntry[];
}

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
/** A page ends at this size, whatever its limit. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
/** Entries read from the ledger in one batch. */
const ENTRIES_AT_ONCE = 25;
/** The store accepts no longer actor or key. */
const MAX_FILTER_BYTES = 1_900;
const WHOLE_NUMBER = /^\d{1,15}$/;
const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;

const EntrySchema = Type.Object(
  {
    seq: Type.Integer({ description: 'Number of the entry' }),
    atMs: Type.Number({ description: 'Unix milliseconds' }),
    actor: Type.String({ description: 'Actor kind' }),
    key: Type.String(),
    from: nullable(Type.String()),
    event: Type.String(),
    to: nullable(Type.String()),
    cause: Type.Object({}, { description: 'One of eventId, deadlineAtMs, user, session, backend and restore' }),
    guards: Type.Array(
      Type.Object({
        name: Type.String(),
        passed: Type.Boolean(),
        inputs: Type.Unknown({ description: 'Values that the guard evaluated' }),
      }),
    ),
    details: Type.Optional(Type.Object({})),
    configRevision: Type.Integer(),
    prevHash: Type.String(),
    hash: Type.String({ description: 'SHA-256 of the preceding members' }),
  },
  { $id: 'mon/v1.LedgerEntry' },
);
const PageSchema = Type.Object({ entries: Type.Array(EntrySchema) }, { $id: 'mon/v1.LedgerPage' });

const TIME = 'Unix seconds or RFC 3339';
const QUERY = {
  limit: Type.Integer({
    minimum: 1,
    description: `Maximum number of entries in a page, up to ${MAX_LIMIT}; ${DEFAULT_LIMIT} by default. A page also ends at ${MAX_PAGE_BYTES} bytes`,
  }),
  continue: Type.Integer({ minimum: 0, description: 'Value of the header `Sensu-Continue` of the previous page' }),
  actor: Type.String({ description: 'Actor kind' }),
  key: Type.String({ description: 'Actor key' }),
  since: Type.String({ description: TIME }),
  until: Type.String({ description: TIME }),
};

export function ledgerRoutes({ ledger }: LedgerRoutePorts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/mon/v1/ledger',
      access: { resource: 'ledger', verb: 'list' },
      reads: 'nothing',
      description: {
        summary: 'List state transitions with their causes, sorted by number',
        query: QUERY,
        answers: { 200: { schema: PageSchema, headers: ['Sensu-Continue'] } },
      },
      handle: ({ query }) => {
        const filter = ledgerQuery(query);
        if (Buffer.byteLength(`${filter.actor}${filter.key}`) > MAX_FILTER_BYTES) return page([], undefined);
        return firstPage(entriesOf(ledger, filter), filter.limit);
      },
    },
  ];
}

/** All matching entries, read in batches on demand. The limit is not applied. */
function* entriesOf(ledger: LedgerRoutePorts['ledger'], filter: LedgerQuery): Iterable<LedgerEntry> {
  for (let afterSeq = filter.afterSeq ?? 0; ;) {
    const found = ledger({ ...filter, afterSeq, limit: ENTRIES_AT_ONCE });
    yield* found;
    const last = found.at(-1);
    if (last === undefined || found.length < ENTRIES_AT_ONCE) return;
    afterSeq = last.seq;
  }
}

/** Fills a page with at least one entry. It reads one entry further to know whether another page follows. */
function firstPage(entries: Iterable<LedgerEntry>, limit: number): Answer {
  const shown: string[] = [];
  let bytes = 0;
  let lastSeq: number | undefined;
  for (const entry of entries) {
    if (shown.length >= limit || bytes >= MAX_PAGE_BYTES) return page(shown, lastSeq);
    const text = JSON.stringify(entry);
    shown.push(text);
    bytes += Buffer.byteLength(text);
    lastSeq = entry.seq;
  }
  return page(shown, undefined);
}

/** `entries` are JSON texts. */
function page(entries: readonly string[], lastSeq: number | undefined): Answer {
  return {
    status: 200,
    type: 'application/json',
    body: `{"entries":[${entries.join(',')}]}`,
    ...(lastSeq === undefined ? {} : { headers: { 'Sensu-Continue': String(lastSeq) } }),
  };
}

/** @throws InvalidResource naming the invalid parameter */
function ledgerQuery(query: URLSearchParams): LedgerQuery {
  const filter: LedgerQuery = { limit: Math.min(wholeNumber(query, 'limit') ?? DEFAULT_LIMIT, MAX_LIMIT) };
  if (filter.limit === 0) throw new InvalidResource('limit must be at least 1');
  const actor = query.get('actor') ?? '';
  if (actor !== '') filter.actor = actor;
  const key = query.get('key') ?? '';
  if (key !== '') filter.key = key;
  const sinceMs = time(query, 'since');
  if (sinceMs !== undefined) filter.sinceMs = sinceMs;
  const untilMs = time(query, 'until');
  if (untilMs !== undefined) filter.untilMs = untilMs;
  const afterSeq = wholeNumber(query, 'continue');
  if (afterSeq !== undefined) filter.afterSeq = afterSeq;
  return filter;
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

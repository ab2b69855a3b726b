import { Type } from 'typebox';
import { InvalidResource } from '../../resources/errors.ts';
import type { LedgerEntry } from '../../store/ledger.ts';
import type { LedgerQuery } from '../../store/transactional-store.ts';
import { nullable } from '../openapi/descriptions.ts';
import type { Answer, Route } from '../request/route.ts';

export interface LedgerRoutePorts {
  /** Durable entries in order of numbers. */
  ledger: (query: LedgerQuery) => LedgerEntry[];
}

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
/** A page that is so long ends, whatever its limit. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
/** Entries that are read before they are text. */
const ENTRIES_AT_ONCE = 25;
/** No actor or key is longer, and the store takes none that is. */
const MAX_FILTER_BYTES = 1_900;
const WHOLE_NUMBER = /^\d{1,15}$/;
const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;

const EntrySchema = Type.Object(
  {
    seq: Type.Integer({ description: 'its number' }),
    atMs: Type.Number({ description: 'Unix milliseconds' }),
    actor: Type.String({ description: 'kind of what changed' }),
    key: Type.String(),
    from: nullable(Type.String()),
    event: Type.String(),
    to: nullable(Type.String()),
    cause: Type.Object({}, { description: 'one of eventId, deadlineAtMs, user, session and restore' }),
    guards: Type.Array(
      Type.Object({
        name: Type.String(),
        passed: Type.Boolean(),
        inputs: Type.Unknown({ description: 'what decided it' }),
      }),
    ),
    details: Type.Optional(Type.Object({})),
    configRevision: Type.Integer(),
    prevHash: Type.String(),
    hash: Type.String({ description: 'SHA-256 of what stands before it' }),
  },
  { $id: 'mon/v1.LedgerEntry' },
);
const PageSchema = Type.Object({ entries: Type.Array(EntrySchema) }, { $id: 'mon/v1.LedgerPage' });

const TIME = 'Unix seconds or RFC 3339';
const QUERY = {
  limit: Type.Integer({
    minimum: 1,
    description: `longest page, at most ${MAX_LIMIT}; ${DEFAULT_LIMIT} unless told; one of ${MAX_PAGE_BYTES} bytes ends earlier`,
  }),
  continue: Type.Integer({ minimum: 0, description: 'the header `Sensu-Continue` of the page before' }),
  actor: Type.String({ description: 'kind of what changed' }),
  key: Type.String({ description: 'key of what changed' }),
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
        summary: 'List transitions with their causes, in the order of their numbers',
        query: QUERY,
        answers: { 200: { schema: PageSchema, headers: ['Sensu-Continue'] } },
      },
      handle: ({ query }) => {
        const asked = ledgerQuery(query);
        if (Buffer.byteLength(`${asked.actor}${asked.key}`) > MAX_FILTER_BYTES) return page([], undefined);
        return firstPage(entriesOf(ledger, asked), asked.limit);
      },
    },
  ];
}

/** All that are asked for but for the limit, read as they are needed. */
function* entriesOf(ledger: LedgerRoutePorts['ledger'], asked: LedgerQuery): Iterable<LedgerEntry> {
  for (let afterSeq = asked.afterSeq ?? 0; ;) {
    const found = ledger({ ...asked, afterSeq, limit: ENTRIES_AT_ONCE });
    yield* found;
    const last = found.at(-1);
    if (last === undefined || found.length < ENTRIES_AT_ONCE) return;
    afterSeq = last.seq;
  }
}

/** At least one entry; whether others follow tells the one after its last. */
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

/** Of entries as they are written. */
function page(entries: readonly string[], lastSeq: number | undefined): Answer {
  return {
    status: 200,
    type: 'application/json',
    body: `{"entries":[${entries.join(',')}]}`,
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

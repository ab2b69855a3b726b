import { setImmediate as nextTick } from 'node:timers/promises';
import { Type } from 'typebox';
import type { LedgerQuery, LedgerSlice } from '../../store/ledger/ledger-query.ts';
import { nullable } from '../openapi/descriptions.ts';
import type { Answer, Route } from '../request/route.ts';
import { InvalidResource } from '../../resources/errors.ts';
import { LEDGER_ACTORS } from '../../store/ledger/ledger-actors.ts';
import { LEDGER_PARAMETERS, ledgerFilter } from './ledger-filter.ts';

export interface LedgerRoutePorts {
  /** Durable entries, a bounded number at a time. */
  ledger: (query: LedgerQuery) => LedgerSlice;
}

/** A page ends at this size, whatever its limit. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
/** A page ends after this many slices of the ledger. Each slice is read at once; other requests are served between two slices. */
const MAX_PAGE_SLICES = 50;
/** The longest actor or key that the store accepts. */
const MAX_FILTER_BYTES = 1_900;

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
export const LedgerPageSchema = Type.Object({ entries: Type.Array(EntrySchema) }, { $id: 'mon/v1.LedgerPage' });

export function ledgerRoutes({ ledger }: LedgerRoutePorts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/mon/v1/ledger',
      access: { resource: 'ledger', verb: 'list' },
      reads: 'nothing',
      description: {
        summary: 'List state transitions with their causes, sorted by number',
        query: LEDGER_PARAMETERS,
        answers: { 200: { schema: LedgerPageSchema, headers: ['Sensu-Continue'] } },
      },
      handle: ({ query, isDisconnected }) => {
        const filter = ledgerFilter(query);
        if (Buffer.byteLength(`${filter.actor}${filter.key}`) > MAX_FILTER_BYTES) return page([], undefined);
        if (filter.actor !== undefined) assertActor(ledger, filter.actor);
        return readPage(ledger, filter, isDisconnected);
      },
    },
  ];
}

/** Accepts the names that entries may have, and those that any entry has. @throws InvalidResource that lists the former */
function assertActor(slice: LedgerRoutePorts['ledger'], actor: string): void {
  if (LEDGER_ACTORS.includes(actor) || slice({ actor, limit: 1 }).entries.length > 0) return;
  throw new InvalidResource(`actor must be one of ${LEDGER_ACTORS.join(', ')}`);
}

/**
 * Reads one page, and one entry more than it returns, to know whether another page follows. A page that ends after
 * `MAX_PAGE_SLICES` may have few entries or none, and another page follows.
 */
async function readPage(
  slice: LedgerRoutePorts['ledger'],
  filter: LedgerQuery,
  isDisconnected: () => boolean,
): Promise<Answer> {
  const { limit } = filter;
  const shown: string[] = [];
  let bytes = 0;
  let afterSeq = filter.afterSeq ?? 0;
  for (let slices = 0; slices < MAX_PAGE_SLICES && !isDisconnected(); slices += 1) {
    if (slices > 0) await nextTick();
    const { entries, afterSeq: next } = slice({ ...filter, afterSeq, limit: limit + 1 - shown.length });
    for (const entry of entries) {
      if (shown.length >= limit || bytes >= MAX_PAGE_BYTES) return page(shown, afterSeq);
      const text = JSON.stringify(entry);
      shown.push(text);
      bytes += Buffer.byteLength(text);
      afterSeq = entry.seq;
    }
    if (next === undefined) return page(shown, undefined);
    afterSeq = next;
  }
  return page(shown, afterSeq);
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

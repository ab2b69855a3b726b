import { get, list, MON, request } from '../api/client.ts';
import { joined, type LedgerEntry, type ReadEntries } from './replay.ts';

/** One actor, as `GET /api/mon/v1/actors/:sessionId` returns it. */
export interface ActorDetail {
  session_id: string;
  machine: string;
  key: string;
  value: unknown;
  since_ms: number | null;
  deadline_at_ms: number | null;
  context: Record<string, unknown>;
  seq: number;
}

export interface ListedActor {
  session_id: string;
  machine: string;
  key: string;
  value: string;
  since: number | null;
}

export interface StateCounts {
  machine: string;
  states: Record<string, number>;
}

/** Entries of one actor that are read together. */
const PAGE = 1_000;

const actorPath = (sessionId: string): string => `${MON}/actors/${encodeURIComponent(sessionId)}`;

export const readActor = (sessionId: string, signal: AbortSignal): Promise<ActorDetail> =>
  get<ActorDetail>(actorPath(sessionId), { signal });

export const readCounts = (signal: AbortSignal): Promise<StateCounts[]> =>
  get<StateCounts[]>(`${MON}/actor-counts`, { signal });

export const readActors = (machine: string, signal: AbortSignal, from?: string) =>
  list<ListedActor>(`${MON}/actors`, { query: { machine, limit: 200, continue: from }, signal });

/** The last entries of an actor, newest first. */
export async function readLastEntries(sessionId: string, signal: AbortSignal): Promise<LedgerEntry[]> {
  return (await get<{ entries: LedgerEntry[] }>(`${actorPath(sessionId)}/ledger`, { signal })).entries;
}

/** Reads the entries of several actors in a time, at most `pages` of each. */
export async function readEntries(
  addresses: readonly { machine: string; key: string }[],
  { sinceS, untilS, pages }: { sinceS: number; untilS: number; pages: number },
  signal: AbortSignal,
): Promise<ReadEntries> {
  const lists = await Promise.all(
    addresses.map(async ({ machine: actor, key }) => {
      const entries: LedgerEntry[] = [];
      let next: string | undefined = '';
      for (let page = 0; next !== undefined && page < pages; page += 1) {
        const query = { actor, key, since: sinceS, until: untilS, limit: PAGE, continue: next };
        const response: Response = await request('GET', `${MON}/ledger`, { query, signal });
        entries.push(...((await response.json()) as { entries: LedgerEntry[] }).entries);
        next = response.headers.get('Sensu-Continue') ?? undefined;
      }
      // A page can be empty: it says how far the ledger was searched.
      return { entries, readUpTo: next === undefined ? Infinity : Number(next) };
    }),
  );
  return joined(lists);
}

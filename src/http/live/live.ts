import type { AccessControl } from '../../auth/access-control.ts';
import type { Caller } from '../../auth/caller.ts';
import type { Tickets } from '../../auth/tickets.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { InvalidResource } from '../../resources/errors.ts';
import type { LedgerEntry, LedgerHead } from '../../store/ledger/ledger.ts';
import type { LedgerQuery, LedgerSlice } from '../../store/ledger/ledger-query.ts';
import type { WebSocketService } from '../upgrade/websocket-endpoint.ts';
import { LiveFollower, type LiveReader } from './live-follower.ts';
import { namespaceOf, VisibleChanges } from './visible-changes.ts';

const MAX_CLIENTS = 64;
/** A client that missed more entries starts over, because reading everything again is cheaper for it. */
const MAX_MISSED = 10_000;
const SEQ = /^\d{1,15}$/;

/** The parameters in the query of a client. */
interface Asked {
  /** The last number that the client has; undefined for changes from now on. */
  since: number | undefined;
  /** Empty for all. */
  namespaces: ReadonlySet<string>;
  /** Kind names; empty for all. */
  kinds: ReadonlySet<string>;
}

export interface LivePorts {
  ledger(query: LedgerQuery): LedgerSlice;
  ledgerHead(): LedgerHead;
  access: Pick<AccessControl, 'assertAllowed'>;
  tickets: Pick<Tickets, 'callerNow'>;
  clock: Clock;
  log: Log;
}

/**
 * `WS /api/mon/v1/live`: the state transitions as they become durable. The first message is `position` with the number from
 * which on changes follow, so that a client that then reads the lists misses nothing. `reset` instead says that the client
 * missed too much.
 */
export class LiveService implements WebSocketService<Asked> {
  readonly clients = 'live connections';
  readonly maxClients = MAX_CLIENTS;
  readonly #ports: LivePorts;
  readonly #followers = new Set<LiveFollower>();

  constructor(ports: LivePorts) {
    this.#ports = ports;
  }

  /** Every user may connect: each change is shown only to those who may list what changed. */
  assertAllowed(): void {}

  parse(query: URLSearchParams): Asked {
    const since = query.get('since');
    if (since !== null && !SEQ.test(since)) throw new InvalidResource(`since must be a number: "${since}"`);
    return {
      since: since === null ? undefined : Number(since),
      namespaces: new Set(query.getAll('namespace')),
      kinds: new Set(query.getAll('kind')),
    };
  }

  serve(reader: LiveReader, caller: Caller, asked: Asked): () => void {
    const { ledger, ledgerHead, clock, log } = this.#ports;
    const { seq: head } = ledgerHead();
    const { since = head } = asked;
    // A restored backup may have a shorter ledger than the one that the client knows.
    const isLost = since > head || head - since > MAX_MISSED;
    reader.send(JSON.stringify({ type: isLost ? 'reset' : 'position', seq: isLost ? head : since }));
    const messages = (entries: readonly LedgerEntry[]): string[] => this.#messages(entries, caller, asked);
    const follower = new LiveFollower(isLost ? head : since, { reader, ledger, messages, clock, log });
    this.#followers.add(follower);
    void follower.run();
    return () => {
      this.#followers.delete(follower);
      follower.end();
    };
  }

  /** Must be called when entries of the ledger became durable. */
  advanced(): void {
    for (const follower of this.#followers) follower.advanced();
  }

  #messages(entries: readonly LedgerEntry[], admitted: Caller, { namespaces, kinds }: Asked): string[] {
    const caller = this.#ports.tickets.callerNow(admitted);
    if (caller === undefined) return [];
    const visible = new VisibleChanges(this.#ports.access, caller);
    return entries
      .filter((entry) => kinds.size === 0 || kinds.has(entry.actor))
      .filter((entry) => namespaces.size === 0 || namespaces.has(namespaceOf(entry)))
      .filter((entry) => visible.has(entry))
      .map(messageOf);
  }
}

function messageOf(entry: LedgerEntry): string {
  const { seq, atMs, actor: kind, key, from, event, to, details } = entry;
  const agent = details?.['agentName'];
  const named = kind === 'connection' && typeof agent === 'string' ? { agent: `${namespaceOf(entry)}/${agent}` } : {};
  return JSON.stringify({ type: 'change', seq, atMs, kind, key, ...named, from, event, to });
}

import { hash, randomBytes } from 'node:crypto';
import type { Clock } from '../ports/clock.ts';
import type { QueueStats } from '../ports/queue-stats.ts';
import { Overloaded, Unauthenticated } from '../resources/errors.ts';
import { subjectOf } from '../rules/rbac.ts';
import { NO_SESSIONS, sessionOf } from '../rules/token-sessions.ts';
import type { ResourceStore } from '../store/resource-store.ts';
import type { Caller } from './caller.ts';

const TICKET_S = 60;
const TICKET_BYTES = 32;
/** Unused tickets, in total and for each user. Further requests are rejected. */
const MAX_TICKETS = 1_000;
const MAX_TICKETS_OF_USER = 20;

export interface Ticket {
  ticket: string;
  /** Unix seconds. The ticket is valid before this second. */
  expires_at: number;
}

interface Issued {
  caller: Caller;
  /** On the monotonic clock. */
  expiresAtMs: number;
}

export interface TicketsPorts {
  resources: Pick<ResourceStore, 'get' | 'tokenSessions'>;
  clock: Clock;
}

/**
 * Single-use tickets that authenticate a WebSocket. Browsers and XState's inspector cannot set a header when they open
 * one.
 */
export class Tickets {
  readonly #ports: TicketsPorts;
  /** By the digest of the ticket, in order of expiry. */
  readonly #issued = new Map<string, Issued>();
  #refused = 0;

  constructor(ports: TicketsPorts) {
    this.#ports = ports;
  }

  get unused(): QueueStats {
    this.#dropExpired();
    return { used: this.#issued.size, limit: MAX_TICKETS, refused: this.#refused };
  }

  /** @throws Overloaded when too many tickets are unused */
  issue(caller: Caller): Ticket {
    this.#dropExpired();
    const own = [...this.#issued.values()].filter((issued) => issued.caller.username === caller.username);
    if (own.length >= MAX_TICKETS_OF_USER) this.#reject(`at most ${MAX_TICKETS_OF_USER} tickets of a user`);
    if (this.#issued.size >= MAX_TICKETS) this.#reject(`at most ${MAX_TICKETS} tickets`);
    const { clock } = this.#ports;
    const ticket = randomBytes(TICKET_BYTES).toString('base64url');
    this.#issued.set(digest(ticket), { caller, expiresAtMs: clock.monotonicMs() + TICKET_S * 1_000 });
    return { ticket, expires_at: Math.floor(clock.nowMs() / 1_000) + TICKET_S };
  }

  /**
   * Returns the caller that the ticket was issued to, as {@link callerNow}, and invalidates the ticket.
   * @throws Unauthenticated when the ticket is unknown, used or expired
   */
  redeem(ticket: string): Caller {
    this.#dropExpired();
    const key = digest(ticket);
    const issued = this.#issued.get(key);
    this.#issued.delete(key);
    if (issued === undefined) throw new Unauthenticated('the ticket is unknown, used or expired');
    const caller = this.callerNow(issued.caller);
    if (caller === undefined)
      throw new Unauthenticated('the user of the ticket is disabled or logged out, or the API key was deleted');
    return caller;
  }

  /**
   * The caller with current groups; undefined when the user is deleted or disabled, or the session or the key has
   * ended.
   */
  callerNow(caller: Caller): Caller | undefined {
    const user = this.#ports.resources.get('users', undefined, caller.username);
    const isValid = user?.disabled === false && this.#sessionExists(caller) && this.#keyExists(caller);
    return isValid ? { ...caller, ...subjectOf(user) } : undefined;
  }

  #sessionExists({ username, session }: Caller): boolean {
    const sessions = this.#ports.resources.tokenSessions(username) ?? NO_SESSIONS;
    return session === undefined || sessionOf(sessions, session) !== undefined;
  }

  #keyExists({ username, key }: Caller): boolean {
    return key === undefined || this.#ports.resources.get('apikeys', undefined, key)?.username === username;
  }

  #reject(why: string): never {
    this.#refused += 1;
    throw new Overloaded(why);
  }

  #dropExpired(): void {
    const nowMs = this.#ports.clock.monotonicMs();
    for (const [key, { expiresAtMs }] of this.#issued) {
      if (expiresAtMs > nowMs) return;
      this.#issued.delete(key);
    }
  }
}

const digest = (ticket: string): string => hash('sha256', ticket, 'base64');

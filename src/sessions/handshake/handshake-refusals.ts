import type { IncomingHttpHeaders } from 'node:http';
import { LRUCache } from 'lru-cache';
import { printable } from '../../formats/printable.ts';
import { atMost } from '../../ports/at-most.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { QueueStats } from '../../ports/queue-stats.ts';
import { namespaceOf, parseBasic } from '../../wire/handshake.ts';
import { agentNameOf, type Refusal } from './refusal.ts';

/** Distinct refusals. Past this number the one repeated longest ago is evicted. */
const MAX_REMEMBERED_REFUSALS = 1_000;

/** Refusals of one address that are logged as warnings in a minute. The peer chooses the names, and each name is a new refusal. */
const MAX_WARNINGS_A_MINUTE = 30;
const MINUTE_MS = 60_000;

/** Refused handshakes of one agent for one reason. The names are those that the peer claims. */
export interface HandshakeRefusal {
  /** Without the port, which differs for each attempt. */
  address: string;
  namespace: string;
  agent: string;
  user: string;
  status: number;
  reason: string;
  /** Unix seconds. */
  first_at: number;
  last_at: number;
  count: number;
}

/** Recently refused handshakes, for finding out why an agent does not appear. */
export class HandshakeRefusals {
  /** Number of refusals by status, including evicted ones. */
  readonly byStatus = new Map<number, number>();
  readonly #remembered = new LRUCache<string, HandshakeRefusal>(atMost(MAX_REMEMBERED_REFUSALS));
  /** The warnings of each address since a time. */
  readonly #warnings = new LRUCache<string, { sinceMs: number; count: number }>(atMost(MAX_REMEMBERED_REFUSALS));
  readonly #clock: Clock;
  readonly #log: Log;

  constructor({ clock, log }: { clock: Clock; log: Log }) {
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * `headers` are empty if no request could be parsed. Logs a warning for the first of identical refusals, within the bound of its
   * address.
   */
  record(address: string, headers: IncomingHttpHeaders, { status, message }: Refusal): void {
    this.byStatus.set(status, (this.byStatus.get(status) ?? 0) + 1);
    const refusal = {
      address,
      namespace: printable(namespaceOf(headers)),
      agent: printable(agentNameOf(headers)),
      user: printable(parseBasic(headers.authorization)?.username ?? ''),
      status,
      reason: printable(message.replaceAll('\n', ': ')),
    };
    const at = Math.floor(this.#clock.nowMs() / 1_000);
    const key = JSON.stringify(Object.values(refusal));
    const known = this.#remembered.get(key);
    this.#remembered.set(key, {
      ...refusal,
      first_at: known?.first_at ?? at,
      last_at: at,
      count: (known?.count ?? 0) + 1,
    });
    if (known !== undefined) this.#log.debug(refusal, 'agent refused again');
    else this.#log[this.#mayWarn(address) ? 'warn' : 'debug'](refusal, 'agent refused');
  }

  #mayWarn(address: string): boolean {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#warnings.get(address);
    const isOver = known === undefined || nowMs - known.sinceMs >= MINUTE_MS;
    const { sinceMs, count } = isOver ? { sinceMs: nowMs, count: 0 } : known;
    this.#warnings.set(address, { sinceMs, count: count + 1 });
    return count < MAX_WARNINGS_A_MINUTE;
  }

  get remembered(): QueueStats {
    return { used: this.#remembered.size, limit: MAX_REMEMBERED_REFUSALS };
  }

  /** From newest to oldest. */
  list(): HandshakeRefusal[] {
    return [...this.#remembered.values()];
  }
}

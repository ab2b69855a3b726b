import type { IncomingHttpHeaders } from 'node:http';
import { LRUCache } from 'lru-cache';
import { printable } from '../formats/printable.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { QueueStats } from '../ports/queue-stats.ts';
import { namespaceOf, parseBasic } from '../wire/handshake.ts';
import { agentNameOf, type Refusal } from './refusal.ts';

/** Refusals that differ; beyond it the one that was repeated longest ago is forgotten. */
const MAX_REMEMBERED_REFUSALS = 1_000;

/** Handshakes that were refused for one reason to one agent. Names are what the peer claimed. */
export interface HandshakeRefusal {
  /** Without the port, which is another at each attempt. */
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

/** Who was refused lately, so that an agent that does not appear can be found. */
export class HandshakeRefusals {
  /** How many there were, by status; those that are forgotten too. */
  readonly byStatus = new Map<number, number>();
  readonly #remembered = new LRUCache<string, HandshakeRefusal>({ max: MAX_REMEMBERED_REFUSALS });
  readonly #clock: Clock;
  readonly #log: Log;

  constructor({ clock, log }: { clock: Clock; log: Log }) {
    this.#clock = clock;
    this.#log = log;
  }

  /** `headers` are empty for what was no request at all. Logged as a warning the first time only. */
  note(address: string, headers: IncomingHttpHeaders, { status, message }: Refusal): void {
    this.byStatus.set(status, (this.byStatus.get(status) ?? 0) + 1);
    const who = {
      address,
      namespace: printable(namespaceOf(headers)),
      agent: printable(agentNameOf(headers)),
      user: printable(parseBasic(headers.authorization)?.username ?? ''),
      status,
      reason: printable(message.replaceAll('\n', ': ')),
    };
    const at = Math.floor(this.#clock.nowMs() / 1_000);
    const key = JSON.stringify(Object.values(who));
    const known = this.#remembered.get(key);
    this.#remembered.set(key, { ...who, first_at: known?.first_at ?? at, last_at: at, count: (known?.count ?? 0) + 1 });
    if (known === undefined) this.#log.warn(who, 'agent refused');
    else this.#log.debug(who, 'agent refused again');
  }

  get remembered(): QueueStats {
    return { used: this.#remembered.size, limit: MAX_REMEMBERED_REFUSALS };
  }

  /** Newest first. */
  list(): HandshakeRefusal[] {
    return [...this.#remembered.values()];
  }
}

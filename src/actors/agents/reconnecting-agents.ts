import { LRUCache } from 'lru-cache';
import { atMost } from '../../ports/at-most.ts';
import type { QueueStats } from '../../ports/queue-stats.ts';

/**
 * The maximum number of agents whose connections are counted. Beyond it the agent that connected longest ago is
 * forgotten, with its count.
 */
const MAX_REMEMBERED_CONNECTIONS = 10_000;
/** The number of connections of an agent within an hour that have their own entries in the ledger. */
const RECORDED_AN_HOUR = 10;
const HOUR_MS = 3_600_000;

/** The connections of an agent that have no entries of their own. */
export interface CountedConnections {
  /** `<namespace>/<agent>`. */
  agent: string;
  count: number;
  /** Steady time, ms. */
  sinceMs: number;
}

interface Hour {
  sinceMs: number;
  opened: number;
  /** The connections among `opened` without entries of their own. */
  counted: number;
  /** Whether the agent connected too often in the hour before. */
  wasRestless: boolean;
}

/**
 * Counts the connections of each agent by the hour. An agent that reconnects continually gets one entry an hour in the
 * ledger, instead of several for each connection.
 */
export class ReconnectingAgents {
  readonly #hours = new LRUCache<string, Hour>(atMost(MAX_REMEMBERED_CONNECTIONS));

  get remembered(): QueueStats {
    return { used: this.#hours.size, limit: MAX_REMEMBERED_CONNECTIONS };
  }

  /** Counts a new connection. Returns whether the ledger has it with entries of its own. */
  opened(agent: string, nowMs: number): boolean {
    const known = this.#hours.get(agent);
    const hour = known ?? { sinceMs: nowMs, opened: 0, counted: 0, wasRestless: false };
    hour.opened += 1;
    const isRecorded = !hour.wasRestless && hour.opened <= RECORDED_AN_HOUR;
    if (!isRecorded) hour.counted += 1;
    if (known === undefined) this.#hours.set(agent, hour);
    return isRecorded;
  }

  /** Returns the counts of hours that are over, for entries of the ledger, and begins the next hours. */
  ended(nowMs: number): CountedConnections[] {
    const counts: CountedConnections[] = [];
    // The loop changes the order of the cache.
    const hours = [...this.#hours.entries()];
    for (const [agent, { sinceMs, opened, counted }] of hours) {
      if (nowMs - sinceMs < HOUR_MS) continue;
      if (counted > 0) counts.push({ agent, count: counted, sinceMs });
      if (opened === 0) this.#hours.delete(agent);
      else this.#hours.set(agent, { sinceMs: nowMs, opened: 0, counted: 0, wasRestless: opened > RECORDED_AN_HOUR });
    }
    return counts;
  }
}

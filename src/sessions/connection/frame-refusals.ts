import { LRUCache } from 'lru-cache';
import { printable } from '../../formats/printable.ts';
import { atMost } from '../../ports/at-most.ts';
import type { QueueStats } from '../../ports/queue-stats.ts';

/** Agents with refused messages. Past this number the agent refused longest ago is evicted. */
const MAX_REMEMBERED_AGENTS = 10_000;

/** Refused messages of an agent since the backend started, over all its connections. */
export interface RefusedFrames {
  count: number;
  lastAtMs: number;
  lastReason: string;
}

/** Limits log lines for one agent, because the agent controls the reasons. */
const MAX_NEW_REASONS_A_MINUTE = 10;
const MINUTE_MS = 60_000;

interface AgentRecord extends RefusedFrames {
  /** Different reasons since the minute started. */
  reasons: number;
  minuteStartMs: number;
}

interface Agent {
  readonly namespace: string;
  readonly agentName: string;
}

const keyOf = ({ namespace, agentName }: Agent): string => `${namespace}/${agentName}`;

/** Counts refused messages for each agent. */
export class FrameRefusals {
  /** Number of refused messages, including those of evicted agents. */
  total = 0;
  /** A flood repeats one reason, so its printable form is cached. */
  #latest = { reason: '', shown: '' };
  readonly #byAgent = new LRUCache<string, AgentRecord>(atMost(MAX_REMEMBERED_AGENTS));

  /** Returns whether to log the reason: it differs from the agent's last one, and the agent is below its limit. */
  record(agent: Agent, reason: string, atMs: number): boolean {
    this.total += 1;
    const key = keyOf(agent);
    const known = this.#byAgent.get(key);
    const lastReason = this.#shown(reason);
    if (known === undefined) {
      this.#byAgent.set(key, { count: 1, lastAtMs: atMs, lastReason, reasons: 1, minuteStartMs: atMs });
      return true;
    }
    const isNew = known.lastReason !== lastReason;
    // Updated in place, because a flood would otherwise allocate an object for each message.
    known.count += 1;
    known.lastAtMs = atMs;
    known.lastReason = lastReason;
    return isNew && mayLogReason(known, atMs);
  }

  #shown(reason: string): string {
    if (reason !== this.#latest.reason) this.#latest = { reason, shown: printable(reason) };
    return this.#latest.shown;
  }

  get remembered(): QueueStats {
    return { used: this.#byAgent.size, limit: MAX_REMEMBERED_AGENTS };
  }

  of(agent: Agent): RefusedFrames | undefined {
    const known = this.#byAgent.get(keyOf(agent));
    if (known === undefined) return undefined;
    const { count, lastAtMs, lastReason } = known;
    return { count, lastAtMs, lastReason };
  }
}

function mayLogReason(known: AgentRecord, atMs: number): boolean {
  if (atMs - known.minuteStartMs >= MINUTE_MS) {
    known.minuteStartMs = atMs;
    known.reasons = 0;
  }
  known.reasons += 1;
  return known.reasons <= MAX_NEW_REASONS_A_MINUTE;
}

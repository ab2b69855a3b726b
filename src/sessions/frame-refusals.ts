import { LRUCache } from 'lru-cache';
import { printable } from '../formats/printable.ts';
import type { QueueStats } from '../ports/queue-stats.ts';

/** Agents of which refused messages are remembered; beyond it the one refused longest ago is forgotten. */
const MAX_REMEMBERED_AGENTS = 10_000;

/** What was refused of an agent since the backend started, over all its connections. */
export interface RefusedFrames {
  count: number;
  lastAtMs: number;
  lastReason: string;
}

/** What is said in the log of one agent: who is refused for ever new reasons chooses them. */
const MAX_NEW_REASONS_A_MINUTE = 10;
const MINUTE_MS = 60_000;

interface Remembered extends RefusedFrames {
  /** New reasons since the minute began. */
  reasons: number;
  minuteSinceMs: number;
}

interface Agent {
  readonly namespace: string;
  readonly agentName: string;
}

const keyOf = ({ namespace, agentName }: Agent): string => `${namespace}/${agentName}`;

/** Counts messages that were refused, by agent. */
export class FrameRefusals {
  /** Messages that were refused, of agents that are forgotten too. */
  total = 0;
  /** Floods have one reason: it is looked through once. */
  #latest = { reason: '', shown: '' };
  readonly #byAgent = new LRUCache<string, Remembered>({ max: MAX_REMEMBERED_AGENTS });

  /** True when the agent's last one had another reason, and it has not had too many of them. */
  note(agent: Agent, reason: string, atMs: number): boolean {
    this.total += 1;
    const key = keyOf(agent);
    const known = this.#byAgent.get(key);
    const lastReason = this.#shown(reason);
    if (known === undefined) {
      this.#byAgent.set(key, { count: 1, lastAtMs: atMs, lastReason, reasons: 1, minuteSinceMs: atMs });
      return true;
    }
    const isNew = known.lastReason !== lastReason;
    // In place: of a flood each would be a record that lives until the next collection of all memory.
    known.count += 1;
    known.lastAtMs = atMs;
    known.lastReason = lastReason;
    return isNew && isToBeTold(known, atMs);
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

function isToBeTold(known: Remembered, atMs: number): boolean {
  if (atMs - known.minuteSinceMs >= MINUTE_MS) {
    known.minuteSinceMs = atMs;
    known.reasons = 0;
  }
  known.reasons += 1;
  return known.reasons <= MAX_NEW_REASONS_A_MINUTE;
}

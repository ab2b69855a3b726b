import { LRUCache } from 'lru-cache';
import { printable } from '../formats/printable.ts';
import type { Occupancy } from '../ports/occupancy.ts';

/** Agents of which refused messages are remembered; beyond it the one refused longest ago is forgotten. */
const MAX_REMEMBERED_AGENTS = 10_000;

/** What was refused of an agent since the backend started, over all its connections. */
export interface RefusedFrames {
  count: number;
  lastAtMs: number;
  lastReason: string;
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
  readonly #byAgent = new LRUCache<string, RefusedFrames>({ max: MAX_REMEMBERED_AGENTS });

  /** True when the agent's last one had another reason. */
  note(agent: Agent, reason: string, atMs: number): boolean {
    this.total += 1;
    const key = keyOf(agent);
    const known = this.#byAgent.get(key);
    const lastReason = this.#shown(reason);
    if (known === undefined) {
      this.#byAgent.set(key, { count: 1, lastAtMs: atMs, lastReason });
      return true;
    }
    // In place: of a flood each would be a record that lives until the next collection of all memory.
    const isNew = known.lastReason !== lastReason;
    known.count += 1;
    known.lastAtMs = atMs;
    known.lastReason = lastReason;
    return isNew;
  }

  #shown(reason: string): string {
    if (reason !== this.#latest.reason) this.#latest = { reason, shown: printable(reason) };
    return this.#latest.shown;
  }

  get remembered(): Occupancy {
    return { used: this.#byAgent.size, limit: MAX_REMEMBERED_AGENTS };
  }

  of(agent: Agent): Readonly<RefusedFrames> | undefined {
    return this.#byAgent.get(keyOf(agent));
  }
}

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
  readonly #byAgent = new LRUCache<string, RefusedFrames>({ max: MAX_REMEMBERED_AGENTS });

  /** Also tells whether the agent's last one had another reason. */
  note(agent: Agent, reason: string, atMs: number): RefusedFrames & { isNew: boolean } {
    this.total += 1;
    const known = this.of(agent);
    const lastReason = printable(reason);
    const refused = { count: (known?.count ?? 0) + 1, lastAtMs: atMs, lastReason };
    this.#byAgent.set(keyOf(agent), refused);
    return { ...refused, isNew: known?.lastReason !== lastReason };
  }

  get remembered(): Occupancy {
    return { used: this.#byAgent.size, limit: MAX_REMEMBERED_AGENTS };
  }

  of(agent: Agent): RefusedFrames | undefined {
    return this.#byAgent.get(keyOf(agent));
  }
}

import type { Clock } from '../ports/clock.ts';
import { TokenBucket } from '../rules/token-bucket.ts';
import type { Refusal } from './refusal.ts';

/** Who is let in before it is asked who he is. */
export interface AgentAdmission {
  /** After the start, ms. */
  serveWaitMs: number;
  /** Connections that are taken in a second; 0 = no limit. */
  connectionsPerS: number;
  /** Whether an agent is refused while another of its name is connected. */
  refusesDuplicates: boolean;
}

export const EVERYBODY_AT_ONCE: AgentAdmission = { serveWaitMs: 0, connectionsPerS: 0, refusesDuplicates: false };

const NOT_YET: Refusal = { status: 503, message: 'agentd temporarily unavailable during startup' };
const TOO_MANY: Refusal = { status: 429, message: 'Too Many Requests' };

/** What is asked of a connection of the agent port before it is asked who comes. */
export class PortGate {
  readonly #clock: Clock;
  readonly #opensAtMs: number;
  readonly #bucket: TokenBucket | undefined;

  /** The wait begins now. */
  constructor(clock: Clock, { serveWaitMs, connectionsPerS }: AgentAdmission) {
    this.#clock = clock;
    this.#opensAtMs = clock.monotonicMs() + serveWaitMs;
    if (connectionsPerS > 0) {
      this.#bucket = new TokenBucket({
        tokensPerS: connectionsPerS,
        capacity: Math.max(1, connectionsPerS),
        nowMs: () => clock.monotonicMs(),
      });
    }
  }

  /** While the backend has just started. */
  get closed(): Refusal | undefined {
    return this.#clock.monotonicMs() < this.#opensAtMs ? NOT_YET : undefined;
  }

  /** Counts the connection where it does not refuse it. */
  enter(): Refusal | undefined {
    return this.closed ?? (this.#bucket?.take() === false ? TOO_MANY : undefined);
  }
}

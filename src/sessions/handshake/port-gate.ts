import type { Clock } from '../../ports/clock.ts';
import { TokenBucket } from '../../rules/token-bucket.ts';
import type { Refusal } from './refusal.ts';

/** Limits that apply before an agent is authenticated. */
export interface AgentAdmission {
  /** Wait after the start, ms. */
  serveWaitMs: number;
  /** Accepted connections per second; 0 means unlimited. */
  connectionsPerS: number;
  /** Connections accepted at once; 0 means as many as per second. */
  burst?: number;
  /** Whether to refuse an agent while another with its name is connected. */
  refusesDuplicates: boolean;
}

export const UNLIMITED_ADMISSION: AgentAdmission = { serveWaitMs: 0, connectionsPerS: 0, refusesDuplicates: false };

const STARTING_UP: Refusal = { status: 503, message: 'agentd temporarily unavailable during startup' };
const TOO_MANY: Refusal = { status: 429, message: 'Too Many Requests' };

/** Applies the start-up wait and the connection rate limit, before authentication. */
export class PortGate {
  readonly #clock: Clock;
  readonly #opensAtMs: number;
  readonly #bucket: TokenBucket | undefined;

  /** The wait starts at construction. */
  constructor(clock: Clock, { serveWaitMs, connectionsPerS, burst = 0 }: AgentAdmission) {
    this.#clock = clock;
    this.#opensAtMs = clock.monotonicMs() + serveWaitMs;
    if (connectionsPerS > 0) {
      this.#bucket = new TokenBucket({
        tokensPerS: connectionsPerS,
        capacity: burst || Math.max(1, connectionsPerS),
        nowMs: () => clock.monotonicMs(),
      });
    }
  }

  /** The refusal while the start-up wait lasts. */
  get closed(): Refusal | undefined {
    return this.#clock.monotonicMs() < this.#opensAtMs ? STARTING_UP : undefined;
  }

  /** Takes a token for the connection unless it is refused. */
  admit(): Refusal | undefined {
    return this.closed ?? (this.#bucket?.take() === false ? TOO_MANY : undefined);
  }
}

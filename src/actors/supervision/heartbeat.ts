import type { Clock } from '../../ports/clock.ts';
import { ALIVE_KEY } from '../../store/commit/committer.ts';
import type { AgentPort } from '../agents/agent-port.ts';
import type { Aggregates } from '../aggregates/aggregates.ts';
import type { Decider } from '../core/decider.ts';
import type { Eviction } from '../core/eviction.ts';
import type { BlindWatch } from '../time/blind-watch.ts';
import { storeLead } from '../ticks/outages.ts';
import { forget, type Retention } from './retention.ts';
import type { Supervision } from './supervision.ts';
import type { TickWatchdog } from './tick-watchdog.ts';

const INTERVAL_MS = 5_000;

export interface HeartbeatPorts {
  clock: Pick<Clock, 'after' | 'nowMs'>;
  watch: Pick<BlindWatch, 'check'>;
  supervision: Pick<Supervision, 'forgetHealthy'>;
  eviction: Pick<Eviction, 'beginRound'>;
  retention: Retention;
  tickWatchdog: Pick<TickWatchdog, 'beat'>;
  agents: Pick<AgentPort, 'recordCounts'>;
  aggregates: Pick<Aggregates, 'sample'>;
  decider: Pick<Decider, 'maintain'>;
  /** Steady time, ms. */
  steadyMs(): number;
}

/** Writes an alive mark every 5 s, with which the next start begins its blind time, and does the upkeep that needs no deadline. */
export class Heartbeat {
  readonly #ports: HeartbeatPorts;
  #cancel: (() => void) | undefined;

  constructor(ports: HeartbeatPorts) {
    this.#ports = ports;
  }

  start(): void {
    const { clock, steadyMs } = this.#ports;
    const dueMs = steadyMs() + INTERVAL_MS;
    this.#cancel = clock.after(INTERVAL_MS, () => {
      this.#beat(dueMs);
      this.start();
    });
  }

  stop(): void {
    this.#cancel?.();
  }

  #beat(dueMs: number): void {
    const { clock, watch, supervision, eviction, retention, tickWatchdog, agents, aggregates, decider } = this.#ports;
    watch.check(dueMs);
    supervision.forgetHealthy();
    eviction.beginRound();
    tickWatchdog.beat();
    aggregates.sample(Math.floor(clock.nowMs() / 1_000));
    decider.maintain('heartbeat.due', (ctx) => {
      ctx.put('meta', ALIVE_KEY, ctx.steadyMs);
      storeLead(ctx);
      forget(ctx, retention.step());
      agents.recordCounts(ctx);
    });
  }
}

import type { Log } from '../../ports/log.ts';
import type { Decider } from '../core/decider.ts';
import { storeLead } from '../ticks/outages.ts';
import { rephaseSchedules } from '../schedules/schedules.ts';
import type { DeadlineQueue } from '../time/deadline-queue.ts';

export interface ClockStepPorts {
  deadlineQueue: Pick<DeadlineQueue, 'rebuild'>;
  decider: Pick<Decider, 'maintain'>;
  log: Log;
}

/** Handles a step of the wall clock: schedules and silences follow it, deadlines in steady time stay as they are. */
export class ClockStep {
  readonly #ports: ClockStepPorts;

  constructor(ports: ClockStepPorts) {
    this.#ports = ports;
  }

  stepped(byMs: number): void {
    const { deadlineQueue, decider, log } = this.#ports;
    log.warn({ step_ms: byMs }, 'wall clock was set');
    deadlineQueue.rebuild();
    decider.maintain('clock.set', (ctx) => {
      storeLead(ctx);
      rephaseSchedules(ctx);
    });
  }
}

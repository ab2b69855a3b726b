import { MACHINES, type Machines } from '../../../src/actors/core/machines.ts';
import { assign } from 'xstate';
import type { CheckTtlContext } from '../../../src/machines/check-ttl.ts';
import { nextTickMs } from '../../../src/rules/keepalive-ticks.ts';

/** Makes the actor of one key throw a given number of times. */
export class Sabotage {
  #armed: { key: string; place: 'action' | 'guard'; times: number } | undefined;

  arm(key: string, place: 'action' | 'guard', times: number): void {
    this.#armed = { key, place, times };
  }

  strike(key: string, place: 'action' | 'guard'): void {
    const armed = this.#armed;
    if (armed === undefined || armed.key !== key || armed.place !== place || armed.times === 0) return;
    armed.times -= 1;
    throw new Error(`sabotage of an ${place} of ${key}`);
  }
}

/** Returns the machines, with one action and one guard of each that can be made to throw. */
export function failingMachines(sabotage: Sabotage): Machines {
  return {
    ...MACHINES,
    entity: MACHINES.entity.provide({
      actions: {
        rearm: assign(({ context }, { warningMs, criticalMs, intervalMs, atMs }) => {
          sabotage.strike(context.key, 'action');
          const tickMs = nextTickMs(0, { warningMs, criticalMs });
          return { warningMs, criticalMs, intervalMs, lastReceivedAtMs: atMs, tickMs, graceMs: 0 };
        }),
        advance: assign(({ context }, { elapsedMs, graceMs }) => {
          sabotage.strike(context.key, 'action');
          return { tickMs: nextTickMs(elapsedMs, context), graceMs };
        }),
      },
      guards: {
        deadlineMoved: ({ context }, { deadlineAtMs, reachedAtMs }) => {
          sabotage.strike(context.key, 'guard');
          return deadlineAtMs !== reachedAtMs;
        },
      },
    }),
    'check-ttl': MACHINES['check-ttl'].provide({
      actions: {
        rearm: assign(({ context }, { ttlMs, alertStatus, atMs }): Partial<CheckTtlContext> => {
          sabotage.strike(context.key, 'action');
          return { ttlMs, alertStatus, lastReceivedAtMs: atMs, tickMs: ttlMs, graceMs: 0 };
        }),
      },
      guards: {
        hasNoTtl: ({ context }, { ttlMs }) => {
          sabotage.strike(context.key, 'guard');
          return ttlMs <= 0;
        },
      },
    }),
    'check-schedule': MACHINES['check-schedule'].provide({
      actions: {
        setNextTick: assign(({ context }, { nextTickAtMs }) => {
          sabotage.strike(context.key, 'action');
          return { nextTickAtMs };
        }),
      },
    }),
  };
}

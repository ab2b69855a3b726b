import { assign, setup } from 'xstate';
import type { EntityEvent, EntityInput } from '../../../src/machines/entity.ts';

/** The count of the values that a key received, and a digest of the values in order. */
export interface Tally {
  count: number;
  digest: number;
}

export const EMPTY_TALLY: Tally = { count: 0, digest: 0 };

export function tallied({ count, digest }: Tally, value: number): Tally {
  return { count: count + 1, digest: (Math.imul(digest, 31) + value) | 0 };
}

export type TallyState = 'registered' | 'warning';

/** Every second input changes the state, so that transitions are written to the ledger. */
export const stateOf = ({ count }: Tally): TallyState => (Math.floor(count / 2) % 2 === 0 ? 'registered' : 'warning');

/** Makes the next action or guard of one key throw, once. */
export class Sabotage {
  strikes = 0;
  #target: { place: 'action' | 'guard'; key: string } | undefined;

  prepare(place: 'action' | 'guard', key: string): void {
    this.#target = { place, key };
  }

  strike(place: 'action' | 'guard', key: string): void {
    if (this.#target?.place !== place || this.#target.key !== key) return;
    this.#target = undefined;
    this.strikes += 1;
    throw new Error(`sabotaged ${place} of ${key}`);
  }
}

/** Replaces the entity machine: counts `keepalive.received`, whose `atMs` is any number, and ends with `entity.deleted`. */
export function tallyMachine(sabotage: Sabotage) {
  const machine = setup({
    types: { context: {} as Tally & { key: string }, input: {} as EntityInput, events: {} as EntityEvent },
    actions: {
      tally: assign(({ context }, { value }: { value: number }) => {
        sabotage.strike('action', context.key);
        return tallied(context, value);
      }),
    },
    guards: {
      changesState: (_, { key, count, state }: { key: string; count: number; state: TallyState }) => {
        sabotage.strike('guard', key);
        return stateOf({ count: count + 1, digest: 0 }) !== state;
      },
    },
  });
  const changesFrom = (state: TallyState) =>
    ({
      type: 'changesState',
      params: ({ context: { key, count } }: { context: Tally & { key: string } }) => ({ key, count, state }),
    }) as const;
  const tally = {
    type: 'tally',
    params: ({ event }: { event: { atMs: number } }) => ({ value: event.atMs }),
  } as const;
  return machine.createMachine({
    id: 'tally',
    context: ({ input }) => ({ key: input.key, ...EMPTY_TALLY }),
    initial: 'registered',
    on: { 'entity.deleted': '.deregistered' },
    states: {
      registered: {
        on: {
          'keepalive.received': [
            { guard: changesFrom('registered'), target: 'warning', actions: tally },
            { actions: tally },
          ],
        },
      },
      warning: {
        on: {
          'keepalive.received': [
            { guard: changesFrom('warning'), target: 'registered', actions: tally },
            { actions: tally },
          ],
        },
      },
      deregistered: { type: 'final' },
    },
  });
}

import { searchOf } from '../api/client.ts';

const encode = encodeURIComponent;

/** The addresses of the pages of state machines that only these pages link to. */
export const machinePaths = {
  machine: (machine: string) => `/machines/${encode(machine)}`,
  /** `since` and `until` are Unix seconds. */
  replay: (actor: readonly string[], time: { since: number; until: number; seq?: number }) =>
    `/machines/replay${searchOf({ actor, ...time })}`,
  inspect: (actor: readonly string[]) => `/inspect${searchOf({ actor })}`,
};

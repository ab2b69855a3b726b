import { type Flag, type FlagValues, kinds } from '../parsing/flags.ts';

const MIB = 2 ** 20;
/** A backend without agents needs 40 MB after its start, and refuses changes at nine tenths of its limit. */
const MIN_MEMORY_MIB = 64;
const MAX_MEMORY_MIB = 2 ** 30;

/** The memory that the process may use. */
export interface MemoryConfig {
  /** The memory of the process; that of the container, the service or the machine when absent or 0. */
  readonly memoryLimitBytes?: number;
}

export const memoryFlags = {
  'memory-limit': {
    kind: kinds.integer(0, MAX_MEMORY_MIB),
    fallback: 0,
    about: `memory in MiB, at least ${MIN_MEMORY_MIB}; at nine tenths of it changes are refused; 0 for that of the container, the service or the machine`,
  },
} satisfies Record<string, Flag<unknown>>;

type Values = FlagValues<typeof memoryFlags>;

export const memoryRule = {
  flags: ['memory-limit'] as const,
  broken: ({ 'memory-limit': limitMib }: Values): string | undefined =>
    limitMib === 0 || limitMib >= MIN_MEMORY_MIB
      ? undefined
      : `memory-limit must be 0 or at least ${MIN_MEMORY_MIB} MiB, because a backend near its limit refuses changes`,
};

export const memoryConfig = (values: Values): MemoryConfig => ({
  memoryLimitBytes: values['memory-limit'] * MIB,
});

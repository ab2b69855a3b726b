const FIRST_SEED = 1_000_000;

/** Returns the seeds of `count` runs, always the same. */
export const seeds = (count: number): number[] => Array.from({ length: count }, (_, index) => FIRST_SEED + index);

const DEFAULT_MINUTES = 10;

/** How long a soak runs: `npm run test:soak -- 24h` sets the variable. */
export const SOAK_MINUTES = Number(process.env['MON_SOAK_MINUTES'] ?? DEFAULT_MINUTES);

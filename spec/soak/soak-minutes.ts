const USUAL_MINUTES = 10;

/** How long a soak runs: for all of them as long as `npm run test:soak -- 24h` says, otherwise for its own time. */
export const soakMinutes = (own = USUAL_MINUTES): number => Number(process.env['MON_SOAK_MINUTES'] ?? own);

const USUAL_MINUTES = 10;

/** The minutes that a soak runs: those of `npm run test:soak -- 24h`, otherwise `defaultMinutes`. */
export const soakMinutes = (defaultMinutes = USUAL_MINUTES): number =>
  Number(process.env['MON_SOAK_MINUTES'] ?? defaultMinutes);

/** In either direction. While reading is paused, a keepalive may take this long to be processed. */
const TOLERATED_CLOCK_SKEW_S = 30;

export const isClockOff = (skewS: number | undefined): skewS is number =>
  skewS !== undefined && Math.abs(skewS) > TOLERATED_CLOCK_SKEW_S;

/** Offset of the sender's clock in whole seconds; positive when it is ahead. */
export const clockSkewS = (sentAtS: number, receivedAtMs: number): number =>
  Math.round(sentAtS - Math.floor(receivedAtMs / 1_000));

/** Either way; a keepalive may be on its way for so long while reading is paused. */
const TOLERATED_CLOCK_SKEW_S = 30;

export const isClockOff = (skewS: number | undefined): skewS is number =>
  skewS !== undefined && Math.abs(skewS) > TOLERATED_CLOCK_SKEW_S;

/** Of the sender's clock against ours, in whole seconds; positive when it is ahead. */
export const clockSkewS = (sentAtS: number, receivedAtMs: number): number =>
  Math.round(sentAtS - Math.floor(receivedAtMs / 1_000));

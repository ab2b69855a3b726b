/** The output of an alert about a missing keepalive. `silentS` counts from the last keepalive. */
export const keepaliveAlertOutput = (entity: string, silentS: number, thresholdMs: number): string =>
  `No keepalive sent from ${entity} for ${silentS} seconds (>= ${thresholdMs / 1_000})`;

/** The output of an alert about a missing result. `silentS` counts from the last result. */
export const ttlAlertOutput = (silentS: number): string => `Last check execution was ${silentS} seconds ago`;

/** The seconds of silence that `keepaliveAlertOutput` wrote; undefined for any other text. */
export const keepaliveSilentS = (output: string): number | undefined =>
  numberIn(/^No keepalive sent from \S+ for (\d{1,12}) seconds \(>= [\d.]+\)$/, output);

/** The seconds of silence that `ttlAlertOutput` wrote; undefined for any other text. */
export const ttlSilentS = (output: string): number | undefined =>
  numberIn(/^Last check execution was (\d{1,12}) seconds ago$/, output);

/**
 * Returns how much silence an alert was raised for: the seconds in its output, less its grace. The output is exact to the second only:
 * with a grace this takes the end of that second, so that the tick of the alert itself has passed.
 */
export const elapsedAtAlertMs = ({ silentS, graceMs }: { silentS: number; graceMs: number }): number =>
  graceMs === 0 ? silentS * 1_000 : silentS * 1_000 + 999 - graceMs;

function numberIn(pattern: RegExp, text: string): number | undefined {
  const [, digits] = pattern.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

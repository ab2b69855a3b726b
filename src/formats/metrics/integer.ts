const INTEGER = /^[+-]?\d+$/;

/** Parses a decimal integer that a number holds exactly; undefined for any other text. */
export function parseInteger(text: string): number | undefined {
  const value = INTEGER.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(value) ? value : undefined;
}

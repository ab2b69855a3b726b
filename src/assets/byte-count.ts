const UNITS = ['B', 'kB', 'MB', 'GB'];
const STEP = 1_000;

/** A number of bytes with at most two digits before the unit's next step: `132 B`, `1.2 kB`, `12 MB`. */
export function byteCount(bytes: number): string {
  let value = bytes;
  let unit = 0;
  for (; value >= STEP && unit < UNITS.length - 1; unit += 1) value /= STEP;
  const digits = unit > 0 && value < 10 ? 1 : 0;
  return `${value.toFixed(digits)} ${UNITS[unit]}`;
}

/** One row of the table: a value of ours, what this machine can do at most, and the floor scaled to this machine. */
export interface Row {
  id: string;
  what: string;
  unit: string;
  value: number;
  /** The raw limit of the same run. */
  rawLimit: number;
  /** The bound on a machine whose bare limit is `REFERENCE_LIMIT`. */
  floor: number;
  /** Whether a lower value is better. */
  isCost?: boolean;
  /** Whether the floor is the same on every machine, as for memory and for measurements at a scaled load. */
  isFixed?: boolean;
}

/** The limits of this machine, measured first. */
export interface MachineLimits {
  /** A bare server that stores each body durably. */
  bare: { perSecond: number; p99Ms: number };
  /** The factor for speeds. */
  scale: number;
}

/** Bare durable PUT/s of the machine of the floors. */
const REFERENCE_LIMIT = 33_000;

/** At most 1: a faster machine does not raise the floors. */
export const machineScale = (bareLimit: number): number => Math.min(1, bareLimit / REFERENCE_LIMIT);

function scaledFloor({ floor, isCost, isFixed }: Row, scale: number): number {
  if (isFixed === true) return floor;
  return isCost === true ? floor / scale : floor * scale;
}

export function passes(row: Row, scale: number): boolean {
  const floor = scaledFloor(row, scale);
  return row.isCost === true ? row.value <= floor : row.value >= floor;
}

export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

export const median = (values: readonly number[]): number =>
  percentile(
    [...values].sort((a, b) => a - b),
    0.5,
  );

const round = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(value >= 10 ? 1 : 2);

/** Formats lines of cells in aligned columns. */
export function printTable(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Formats the rows as text, one line each. */
export function printRows(rows: readonly Row[], scale: number): string {
  const header = ['', 'what', 'value', 'raw limit', 'ratio', 'scaled floor', ''];
  const lines = rows.map((row) => [
    row.id,
    row.what,
    `${round(row.value)} ${row.unit}`,
    `${round(row.rawLimit)} ${row.unit}`,
    (row.value / row.rawLimit).toFixed(2),
    `${round(scaledFloor(row, scale))} ${row.unit}`,
    passes(row, scale) ? 'ok' : 'BELOW FLOOR',
  ]);
  return printTable([header, ...lines]);
}

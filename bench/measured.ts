/** One row of the table: a figure of ours, what this machine can do at most, and the floor scaled to this machine. */
export interface Row {
  id: string;
  what: string;
  unit: string;
  figure: number;
  /** The raw limit of the same run that the figure is held against. */
  rawLimit: number;
  /** On a machine whose bare limit is `REFERENCE_LIMIT`. */
  floor: number;
  /** Whether a lower figure is better. */
  isCost?: boolean;
}

/** Bare durable PUT/s of the machine the floors were set on. */
const REFERENCE_LIMIT = 33_000;

/** At most 1: a faster machine does not raise the floors. */
export const machineScale = (bareLimit: number): number => Math.min(1, bareLimit / REFERENCE_LIMIT);

export const scaledFloor = ({ floor, isCost }: Row, scale: number): number =>
  isCost === true ? floor / scale : floor * scale;

export function passes(row: Row, scale: number): boolean {
  const floor = scaledFloor(row, scale);
  return row.isCost === true ? row.figure <= floor : row.figure >= floor;
}

export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

const round = (value: number): string => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(1));

/** The table as text, one line a row. */
export function printRows(rows: readonly Row[], scale: number): string {
  const header = ['', 'what', 'figure', 'raw limit', 'ratio', 'scaled floor', ''];
  const lines = rows.map((row) => [
    row.id,
    row.what,
    `${round(row.figure)} ${row.unit}`,
    `${round(row.rawLimit)} ${row.unit}`,
    (row.figure / row.rawLimit).toFixed(2),
    `${round(scaledFloor(row, scale))} ${row.unit}`,
    passes(row, scale) ? 'ok' : 'BELOW FLOOR',
  ]);
  const widths = header.map((_, column) => Math.max(...[header, ...lines].map((line) => line[column]?.length ?? 0)));
  return [header, ...lines]
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

import { type Checkout, HERE, withCheckout } from '../support/checkout.ts';
import { watchLoad } from '../support/machine-load.ts';
import { median, printTable } from '../support/measured.ts';

/** Columns of a table, each with its value. */
export type Costs = Record<string, number>;

/** One row of the benchmark as it is measured in two checkouts. */
export interface Comparison {
  id: string;
  what: string;
  measure(checkout: Checkout): Promise<Costs>;
}

/** Measures the comparisons here and in another commit, in turn, and prints the medians and their ratios. */
export async function compare(comparisons: readonly Comparison[], commit: string, rounds: number): Promise<void> {
  await withCheckout(commit, async (other) => {
    for (const comparison of comparisons) {
      try {
        await compareOne(comparison, other, rounds);
      } catch (error) {
        process.stdout.write(`${comparison.id} could not be compared: ${String(error)}\n`);
        process.exitCode = 1;
      }
    }
  });
}

async function compareOne({ id, what, measure }: Comparison, other: Checkout, rounds: number): Promise<void> {
  const load = watchLoad();
  const here: Costs[] = [];
  const there: Costs[] = [];
  for (let round = 0; round < rounds; round += 1) {
    there.push(await measure(other));
    here.push(await measure(HERE));
  }
  const columns = Object.keys(here[0] ?? {});
  const ours = columns.map((column) => medianOf(here, column));
  const theirs = columns.map((column) => medianOf(there, column));
  const ratios = ours.map((value, index) => (value / (theirs[index] ?? NaN)).toFixed(2));
  const table = [
    ['', ...columns],
    [other.name, ...theirs.map(figure)],
    [HERE.name, ...ours.map(figure)],
    ['ratio', ...ratios],
  ];
  process.stdout.write(`${id}: ${what}; medians of ${rounds}; ${load()}\n${printTable(table)}\n`);
}

const medianOf = (all: readonly Costs[], column: string): number => median(all.map((costs) => costs[column] ?? NaN));

const figure = (value: number): string => value.toFixed(value >= 1_000 ? 0 : 1);

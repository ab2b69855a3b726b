import type { Chart } from './chart.ts';
import charts from './charts.json';

/** All state machines, as `npm run charts` laid them out. */
export const CHARTS = charts as unknown as readonly Chart[];

const BY_NAME = new Map(CHARTS.flatMap((chart) => [[chart.id, chart] as const, [chart.machine, chart] as const]));

/** The chart of a machine, by its kind name or its id. */
export const chartOf = (machine: string): Chart | undefined => BY_NAME.get(machine);

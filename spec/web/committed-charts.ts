import { readFileSync } from 'node:fs';
import type { Chart } from '../../web/src/machines/chart.ts';

/** The charts that the dashboard draws. */
export const COMMITTED_CHARTS = JSON.parse(
  readFileSync(new URL('../../web/src/machines/charts.json', import.meta.url), 'utf8'),
) as Chart[];

/** A chart by its kind name or its id. */
export function committedChart(name: string): Chart {
  const found = COMMITTED_CHARTS.find(({ machine, id }) => machine === name || id === name);
  if (found === undefined) throw new Error(`there is no chart of ${name}`);
  return found;
}

import { writeFileSync } from 'node:fs';
import { format } from 'prettier';
import { allCharts } from './all-charts.ts';

/** `npm run charts`: writes the layout of every machine for the dashboard. */
const FILE = new URL('../../web/src/machines/charts.json', import.meta.url);

const text = JSON.stringify(await allCharts());
writeFileSync(FILE, await format(text, { parser: 'json', printWidth: 120 }));

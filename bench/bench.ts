import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { compare } from './comparisons/comparison.ts';
import { COMPARISONS } from './comparisons/comparisons.ts';
import { aggregateSummary } from './rows/aggregate-summary.ts';
import { agentThroughput, filteredThroughput } from './rows/agent-throughput.ts';
import { backupUnderLoad } from './rows/backup-under-load.ts';
import { connectedAgents } from './rows/connected-agents.ts';
import { CYCLES, registerCycles } from './rows/register-cycles.ts';
import { deadlineLateness } from './rows/deadline-lateness.ts';
import { engineRate } from './rows/engine-rate.ts';
import { filterRate } from './rows/filter-rate.ts';
import { firstByte } from './rows/first-byte.ts';
import { firstPage } from './rows/first-page.ts';
import { GROWTH, growth } from './rows/growth.ts';
import { idleAgent } from './rows/idle-agent.ts';
import { keyGrowth } from './rows/key-growth.ts';
import { statsdRate } from './rows/statsd-rate.ts';
import { type MachineLimits, machineScale, passes, printRows, type Row } from './support/measured.ts';
import { bareLimit, restPut } from './rows/rest-put.ts';
import { SIZING, sizing } from './rows/sizing.ts';
import { STAGES, stages } from './rows/stages.ts';
import { storedState } from './rows/stored-state.ts';

interface Measurement {
  /** The rows of the table that it measures. */
  ids: readonly string[];
  measure(limits: MachineLimits): Promise<Row[]>;
}

const MEASUREMENTS: readonly Measurement[] = [
  { ids: ['G1'], measure: restPut },
  { ids: ['G2'], measure: agentThroughput },
  { ids: ['G2F'], measure: filteredThroughput },
  { ids: ['G4'], measure: engineRate },
  { ids: ['G5', 'G6'], measure: connectedAgents },
  { ids: ['G7', 'G8'], measure: storedState },
  { ids: ['G9'], measure: deadlineLateness },
  { ids: ['G10'], measure: firstPage },
  { ids: ['G11'], measure: firstByte },
  { ids: ['G13'], measure: statsdRate },
  { ids: ['G14'], measure: idleAgent },
  { ids: ['filters'], measure: filterRate },
  { ids: ['aggregates'], measure: aggregateSummary },
  { ids: ['backup'], measure: backupUnderLoad },
];
const KNOWN = [...MEASUREMENTS.flatMap(({ ids }) => ids), GROWTH, CYCLES, STAGES, SIZING];

/**
 * `npm run bench -- G2 G9` measures those rows only, after the raw limit that scales the floors; `growth` measures two more
 * tables, `cycles` the memory after a million entities, `stages` where the CPU time of an event goes, `sizing` what
 * docs/sizing.md states. With `--against <commit>` the rows are measured here and there in turn, as often as `--rounds` says,
 * and nothing has a floor.
 */
const { values: options, positionals: requested } = parseArgs({
  allowPositionals: true,
  options: { against: { type: 'string' }, rounds: { type: 'string', default: '5' } },
});
if (options.against !== undefined) {
  const compared = COMPARISONS.filter(({ id }) => requested.length === 0 || requested.includes(id));
  if (compared.length === 0) throw new Error(`none of ${requested.join(' ')} can be compared with another commit`);
  await compare(compared, options.against, Number(options.rounds));
  process.exit();
}
const unknown = requested.find((id) => !KNOWN.includes(id));
if (unknown !== undefined) throw new Error(`${unknown} is not one of ${KNOWN.join(' ')}`);
const wanted = MEASUREMENTS.filter(({ ids }) => requested.length === 0 || ids.some((id) => requested.includes(id)));

if (requested.includes(STAGES)) {
  process.stdout.write(`${await stages()}\n`);
  process.exit();
}
if (requested.includes(SIZING)) {
  process.stdout.write(`${await sizing()}\n`);
  process.exit();
}
const bare = await bareLimit();
const scale = machineScale(bare.perSecond);
process.stdout.write(
  `bare node:http with a durable LMDB put: ${Math.round(bare.perSecond)}/s; floors are scaled by ${scale.toFixed(2)}\n`,
);
const rows: Row[] = [];
for (const { ids, measure } of wanted) {
  // Writes of one row must not still go to the disk while the next row is measured.
  execFileSync('sync');
  try {
    rows.push(...(await measure({ bare, scale })));
  } catch (error) {
    process.stdout.write(`${ids.join(' and ')} could not be measured: ${String(error)}\n`);
    process.exitCode = 1;
  }
}
if (rows.length > 0) process.stdout.write(`${printRows(rows, scale)}\n`);
if (!rows.every((row) => passes(row, scale))) process.exitCode = 1;
if (requested.includes(GROWTH)) process.stdout.write(`${await growth()}\n${await keyGrowth()}\n`);
if (requested.includes(CYCLES)) process.stdout.write(`${await registerCycles()}\n`);

import { isDeepStrictEqual } from 'node:util';
import { crashRounds } from './crash-rounds.ts';
import { killAtEachReport, killAtRandom } from './upgrade-rounds.ts';

/** `npm run test:crash -- 200` kills a backend so often, and upgrades a tenth as often. */
const rounds = Number(process.argv[2] ?? 50);
const { faults, acknowledged } = await crashRounds(rounds, Math.random);
process.stdout.write(`${rounds} kills, ${acknowledged} events promised, ${faults.length} faults\n`);

const upgrades = await killAtEachReport();
for (let round = 0; round < rounds / 10; round += 1) upgrades.push(await killAtRandom(Math.random));
const broken = upgrades.filter(({ content, expected }) => !isDeepStrictEqual(content, expected));
faults.push(...broken.map(({ kill }) => `an upgrade killed at ${kill} led to another store`));
process.stdout.write(`${upgrades.length} upgrades killed, ${broken.length} of them with another result\n`);

for (const fault of faults) process.stdout.write(`${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;

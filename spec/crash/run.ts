import { isDeepStrictEqual } from 'node:util';
import { crashRounds } from './crash-rounds.ts';
import { killAtEachReport, killAtRandom } from './upgrade-rounds.ts';

/** `npm run test:crash -- 200` kills a backend 200 times, and upgrades a tenth as often. */
const rounds = Number(process.argv[2] ?? 50);
const { errors, acknowledged } = await crashRounds(rounds, Math.random);
process.stdout.write(`${rounds} kills, ${acknowledged} events acknowledged, ${errors.length} errors\n`);

const upgrades = await killAtEachReport();
for (let round = 0; round < rounds / 10; round += 1) upgrades.push(await killAtRandom(Math.random));
const broken = upgrades.filter(({ content, expected }) => !isDeepStrictEqual(content, expected));
errors.push(...broken.map(({ kill }) => `an upgrade killed at ${kill} led to another store`));
process.stdout.write(`${upgrades.length} upgrades killed, ${broken.length} of them with another result\n`);

for (const error of errors) process.stdout.write(`${error}\n`);
process.exitCode = errors.length === 0 ? 0 : 1;

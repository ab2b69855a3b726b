import { crashRounds } from './crash-rounds.ts';

/** `npm run test:crash -- 200` */
const rounds = Number(process.argv[2] ?? 50);
const { faults, acknowledged } = await crashRounds(rounds, Math.random);
process.stdout.write(`${rounds} kills, ${acknowledged} events promised, ${faults.length} faults\n`);
for (const fault of faults) process.stdout.write(`${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;

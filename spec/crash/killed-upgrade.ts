import { type Steps, upgradeExample } from './example-upgrade.ts';

/**
 * A program that upgrades a store and kills itself at a report of its progress:
 * `killed-upgrade <state directory> <example|real> <number of the report, 0 = none>`. It sends its parent the type of each report.
 * It is bundled, because it is started often.
 */
const [, , stateDir = '', steps = '', killAt = '0'] = process.argv;

let reports = 0;
await upgradeExample(stateDir, steps as Steps, (type) => {
  reports += 1;
  if (reports === Number(killAt)) process.kill(process.pid, 'SIGKILL');
  process.send?.(type);
});
process.disconnect();

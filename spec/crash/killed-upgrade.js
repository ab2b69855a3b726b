import { rewriteJson } from '../../dist/store/migrations/rewrite.js';
import { STORE_VERSION } from '../../dist/store/store-version.js';
import { upgradeStore } from '../../dist/store/upgrade.js';

/**
 * A program that upgrades a store and kills itself at a report of its progress:
 * `killed-upgrade.js <store> <backups> <example|real> <number of the report, 0 = none>`. It sends its parent the type of each report.
 * It runs the compiled program, because it is started often.
 */
const [, , directory = '', backupDirectory = '', steps = '', killAt = '0'] = process.argv;

const add = (count) => rewriteJson('resources', ({ name, n }) => ({ name, n: n + count }));

/** The result is wrong if a record is converted twice, or not at all. */
const EXAMPLE = [
  { to: STORE_VERSION + 1, name: 'first', passes: [add(1)] },
  { to: STORE_VERSION + 2, name: 'second', passes: [add(2), add(4)] },
];

let reports = 0;
await upgradeStore({
  directory,
  backupDirectory,
  program: '1.2.3',
  nowMs: () => Date.UTC(2026, 10, 22, 12),
  signal: new AbortController().signal,
  report: ({ type }) => {
    reports += 1;
    if (reports === Number(killAt)) process.kill(process.pid, 'SIGKILL');
    process.send?.(type);
  },
  ...(steps === 'example' ? { migrations: EXAMPLE } : {}),
});
process.disconnect();

import { join } from 'node:path';
import { rewriteJson } from '../../src/store/migrations/rewrite.ts';
import { STORE_VERSION } from '../../src/store/lmdb/store-version.ts';
import { upgradeStore, type UpgradeProgress } from '../../src/store/maintenance/upgrade.ts';

export type ReportType = UpgradeProgress['type'];
/** The steps of this program, or two that need many transactions. */
export type Steps = 'example' | 'real';

const add = (count: number) =>
  rewriteJson('resources', (record) => {
    const { name, n } = record as { name: string; n: number };
    return { name, n: n + count };
  });

/** The result is wrong if a record is converted twice, or not at all. */
const EXAMPLE = [
  { to: STORE_VERSION + 1, name: 'first', passes: [add(1)] },
  { to: STORE_VERSION + 2, name: 'second', passes: [add(2), add(4)] },
];

/** Upgrades the store of a state directory, or continues an upgrade that was killed. */
export async function upgradeExample(
  stateDir: string,
  steps: Steps,
  report: (type: ReportType) => void,
): Promise<void> {
  await upgradeStore({
    directory: join(stateDir, 'store'),
    backupDirectory: join(stateDir, 'backups'),
    program: '1.2.3',
    nowMs: () => Date.UTC(2026, 10, 22, 12),
    signal: new AbortController().signal,
    report: ({ type }) => {
      report(type);
    },
    ...(steps === 'example' ? { migrations: EXAMPLE } : {}),
  });
}

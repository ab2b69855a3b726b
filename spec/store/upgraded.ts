import { join } from 'node:path';
import { type UpgradeOptions, upgradeStore } from '../../src/store/maintenance/upgrade.ts';

/** Upgrades the store of a state directory with the steps of this program. */
export const upgraded = (stateDir: string, options: Partial<UpgradeOptions> = {}) =>
  upgradeStore({
    directory: join(stateDir, 'store'),
    backupDirectory: join(stateDir, 'backups'),
    program: '1.2.3',
    nowMs: () => Date.UTC(2026, 10, 22, 12),
    signal: new AbortController().signal,
    report: () => undefined,
    ...options,
  });

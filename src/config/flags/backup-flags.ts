import { join } from 'node:path';
import { type Flag, type FlagValues, kinds } from '../parsing/flags.ts';

const MAX_KEPT = 10_000;

/** Where the backups are whose paths the operator does not choose, and how many of them are kept. */
export interface KeptBackups {
  readonly directory: string;
  /** The newest ones of each kind; 0 = all. */
  readonly keep: number;
}

/** The flags of the commands that make such backups. */
export const backupFlags = {
  'backup-dir': {
    kind: kinds.text,
    fallback: '',
    about: 'directory of the backups without a path; by default <state-dir>/backups',
  },
  'backup-keep': {
    kind: kinds.integer(0, MAX_KEPT),
    fallback: 3,
    about: 'how many backups without a path each command keeps in --backup-dir, the newest; 0 = all',
  },
} satisfies Record<string, Flag<unknown>>;

type Values = FlagValues<typeof backupFlags> & { 'state-dir': string };

export const keptBackups = (values: Values): KeptBackups =>
  Object.freeze({
    directory: values['backup-dir'] === '' ? join(values['state-dir'], 'backups') : values['backup-dir'],
    keep: values['backup-keep'],
  });

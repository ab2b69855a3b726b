import { type Flag, type FlagValues, kinds } from '../parsing/flags.ts';

const MEGABYTE = 1_000_000;
const HOUR_MS = 3_600_000;
const MAX_KEPT = 100_000;

/** When a log file is rotated, and how long rotated files are kept. */
export interface RotationLimits {
  /** The file is rotated before it grows above this size; 0 = never. */
  readonly maxBytes: number;
  /** How long rotated files are kept; 0 = without limit. */
  readonly retentionMs: number;
  /** How many rotated files are kept; 0 = without limit. */
  readonly maxRotated: number;
  /** The pause between two searches for rotated files that are too old. */
  readonly reaperIntervalMs: number;
}

/** The log file of a program. */
export interface LogFileConfig extends RotationLimits {
  readonly file: string;
}

/** The flags of the log file, which both programs have. */
export const logFileFlags = {
  'log-file': {
    kind: kinds.text,
    fallback: '',
    about: 'log file; without it the log goes to standard error',
  },
  'log-max-size': {
    kind: kinds.bytes,
    fallback: 128 * MEGABYTE,
    about: 'size above which the log file is rotated, 0 for no rotation',
  },
  'log-retention-duration': {
    kind: kinds.duration(),
    fallback: 168 * HOUR_MS,
    about: 'how long rotated log files are kept, 0 for no limit',
  },
  'log-retention-files': {
    kind: kinds.integer(0, MAX_KEPT),
    fallback: 10,
    about: 'how many rotated log files are kept, 0 for no limit',
  },
  'log-reaper-interval': {
    kind: kinds.duration(),
    fallback: 60_000,
    about: 'time between two searches for rotated log files to remove',
  },
} satisfies Record<string, Flag<unknown>>;

type Values = FlagValues<typeof logFileFlags>;

export const logFileRule = {
  flags: ['log-reaper-interval'] as const,
  broken: (values: Values): string | undefined =>
    values['log-reaper-interval'] > 0 ? undefined : 'log-reaper-interval must be above 0',
};

export const rotationLimits = (values: Values): RotationLimits => ({
  maxBytes: values['log-max-size'],
  retentionMs: values['log-retention-duration'],
  maxRotated: values['log-retention-files'],
  reaperIntervalMs: values['log-reaper-interval'],
});

/** Undefined when the program logs to standard error. */
export const logFileConfig = (values: Values): LogFileConfig | undefined =>
  values['log-file'] === '' ? undefined : Object.freeze({ file: values['log-file'], ...rotationLimits(values) });

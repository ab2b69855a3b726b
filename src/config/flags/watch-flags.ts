import { type Flag, type FlagValues, kinds } from '../parsing/flags.ts';

const DAY_MS = 86_400_000;
const MIN_RETENTION_MS = 3_600_000;

/** The record of ticks. */
export interface WatchConfig {
  /** How long the outcomes of ticks are kept; 30 days by default. */
  readonly watchRetentionMs?: number;
}

export const watchFlags = {
  'watch-retention': {
    kind: kinds.duration(),
    fallback: 30 * DAY_MS,
    about: 'how long the outcomes of scheduled runs are kept',
  },
} satisfies Record<string, Flag<unknown>>;

type Values = FlagValues<typeof watchFlags>;

export const watchRule = {
  flags: ['watch-retention'] as const,
  broken: ({ 'watch-retention': retentionMs }: Values): string | undefined =>
    retentionMs >= MIN_RETENTION_MS ? undefined : 'watch-retention must be at least 1h',
};

export const watchConfig = (values: Values): WatchConfig => ({
  watchRetentionMs: values['watch-retention'],
});

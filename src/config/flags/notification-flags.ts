import { type Flag, type FlagValues, kinds } from '../parsing/flags.ts';

const RETENTION = 'notification-retention';
const DEFAULT_RETENTION_MS = 7 * 86_400_000;

/** How long outcomes of handlers are kept. */
export interface NotificationConfig {
  readonly notificationRetentionMs?: number;
}

export const notificationFlags = {
  [RETENTION]: {
    kind: kinds.duration(),
    fallback: DEFAULT_RETENTION_MS,
    about: 'how long outcomes of handlers and dead letters are kept; the last 20 outcomes of an event stay longer',
  },
} satisfies Record<string, Flag<unknown>>;

type Values = FlagValues<typeof notificationFlags>;

export const notificationRule = {
  flags: [RETENTION] as const,
  broken: (values: Values): string | undefined => (values[RETENTION] > 0 ? undefined : `${RETENTION} must be above 0`),
};

export const notificationConfig = (values: Values): NotificationConfig => ({
  notificationRetentionMs: values[RETENTION],
});

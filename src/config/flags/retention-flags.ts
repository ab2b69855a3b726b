import { type Flag, type FlagValues, kinds } from '../parsing/flags.ts';

const DAY_MS = 86_400_000;
const MIB = 2 ** 20;
const MAX_MIB = 2 ** 30;

/** How long records are kept that nothing else removes. */
export interface RetentionConfig {
  /** The age of ledger entries, ms, and the size of the ledger; 0 = no limit. */
  readonly ledgerLimits?: { readonly ageMs: number; readonly bytes: number };
  /** How long passing events are kept after their last result, ms; 0 = for ever. */
  readonly eventRetentionMs?: number;
  /** The size of the store above which changes are refused; 0 = no limit. */
  readonly storeQuotaBytes?: number;
}

export const retentionFlags = {
  'ledger-retention': {
    kind: kinds.duration(),
    fallback: 365 * DAY_MS,
    about: 'how long entries of the ledger are kept; 0 = for ever',
  },
  'ledger-retention-size': {
    kind: kinds.integer(0, MAX_MIB),
    fallback: 4_096,
    about: 'size of the ledger in MiB above which its oldest entries are removed; 0 = no limit',
  },
  'store-quota': {
    kind: kinds.integer(0, MAX_MIB),
    fallback: 0,
    about: 'size of the store in MiB at which changes that add to it are refused; 0 = no limit',
  },
  'event-retention': {
    kind: kinds.duration(),
    fallback: 0,
    about: 'how long passing events are kept after their last result; 0 = for ever',
  },
} satisfies Record<string, Flag<unknown>>;

type Values = FlagValues<typeof retentionFlags>;

export const retentionRules = (['ledger-retention', 'event-retention'] as const).map((name) => ({
  flags: [name] as const,
  broken: (values: Values): string | undefined =>
    values[name] === 0 || values[name] >= DAY_MS ? undefined : `${name} must be 0 or at least 24h`,
}));

export const retentionConfig = (values: Values): RetentionConfig => ({
  ledgerLimits: { ageMs: values['ledger-retention'], bytes: values['ledger-retention-size'] * MIB },
  eventRetentionMs: values['event-retention'],
  storeQuotaBytes: values['store-quota'] * MIB,
});

import { type Flag, type FlagValues, kinds } from '../parsing/flags.ts';

const DEFAULT = 'default-silenced-expiry-time';
const LONGEST = 'max-silenced-expiry-time-allowed';

/** The effect and the duration of silences. */
export interface SilenceConfig {
  /** Whether a silence on a subscription acts on all events of the entities that have it. Off by default. */
  readonly silenceMatchEntitySubscriptions?: boolean;
  /** The duration of a silence without an end; unlimited when this is 0 or absent. */
  readonly defaultSilenceMs?: number;
  /** The longest duration of a silence from its start; no limit when this is 0 or absent. */
  readonly longestSilenceMs?: number;
}

export const silenceFlags = {
  'silence-match-entity-subscriptions': {
    kind: kinds.boolean,
    fallback: false,
    about: 'apply a silence on a subscription to all events of entities that have it',
  },
  [DEFAULT]: {
    kind: kinds.duration(),
    fallback: 0,
    about: 'duration of a silence without an end, 0 for unlimited',
  },
  [LONGEST]: {
    kind: kinds.duration(),
    fallback: 0,
    about: 'longest duration of a silence, 0 for no limit',
  },
} satisfies Record<string, Flag<unknown>>;

type Values = FlagValues<typeof silenceFlags>;

/** Refuses a default above the longest duration. */
export const silenceRule = {
  flags: [DEFAULT, LONGEST] as const,
  broken: ({ [DEFAULT]: fallbackMs, [LONGEST]: longestMs }: Values): string | undefined =>
    longestMs > 0 && fallbackMs > longestMs ? `${DEFAULT} must be at most ${LONGEST}` : undefined,
};

export const silenceConfig = (values: Values): SilenceConfig => ({
  silenceMatchEntitySubscriptions: values['silence-match-entity-subscriptions'],
  defaultSilenceMs: values[DEFAULT],
  longestSilenceMs: values[LONGEST],
});

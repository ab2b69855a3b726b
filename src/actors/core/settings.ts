import { NO_SECRET_VALUES, type SecretValues } from '../../pipeline/secrets.ts';
import { NO_SILENCE_LIMITS, type SilenceLimits } from '../../resources/silenced.ts';
import { REFRESH_MS } from '../../rules/token-sessions.ts';
import type { EntityUseLimits } from './entity-room.ts';

/**
 * Which entities an agent may send events for, besides its own: `own` allows no other entity, `own-and-proxies` also allows
 * entities that do not belong to another agent (proxies, and names that are not registered), `any` allows every entity of
 * the agent's namespace.
 */
export type AgentEventsPolicy = 'own' | 'own-and-proxies' | 'any';

/** The operator's settings for decisions; they do not change while the process runs. */
export interface Settings {
  /** Whether a silence matches any subscription of the entity. */
  readonly silencesMatchEntitySubscriptions: boolean;
  readonly silenceLimits: SilenceLimits;
  /** How long a refresh token is valid. */
  readonly refreshTokenMs: number;
  /** Entities that may exist; 0 = no limit. */
  readonly entityLimit: number;
  /** The limits of the stored results of one entity. */
  readonly entityUseLimits: EntityUseLimits;
  readonly agentEventsPolicy: AgentEventsPolicy;
  /** Whether every processed event is announced. */
  readonly announcesEvents: boolean;
  /** The values of secrets. A decision only checks that they exist, and never stores them. */
  readonly secretValues: SecretValues;
  /** How long the outcomes of ticks are kept. */
  readonly watchRetentionMs: number;
  /** How long notifications and dead letters are kept. */
  readonly notificationRetentionMs: number;
  /** The age of ledger entries, ms, and the size of the ledger; 0 = no limit. */
  readonly ledgerLimits: { readonly ageMs: number; readonly bytes: number };
  /** The size of the store above which changes are refused, bytes; 0 = no limit. */
  readonly storeQuotaBytes: number;
  /** The size of a resource of the configuration above which it is refused, bytes of its JSON; 0 = no limit. */
  readonly maxValueBytes: number;
  /** How long passing events are kept after their last result, ms; 0 = for ever. */
  readonly eventRetentionMs: number;
}

export const DEFAULT_SETTINGS: Settings = {
  silencesMatchEntitySubscriptions: false,
  silenceLimits: NO_SILENCE_LIMITS,
  refreshTokenMs: REFRESH_MS,
  entityLimit: 0,
  entityUseLimits: { checks: 0, bytes: 0 },
  agentEventsPolicy: 'any',
  announcesEvents: false,
  secretValues: NO_SECRET_VALUES,
  watchRetentionMs: 30 * 86_400_000,
  notificationRetentionMs: 7 * 86_400_000,
  ledgerLimits: { ageMs: 365 * 86_400_000, bytes: 4 * 2 ** 30 },
  storeQuotaBytes: 0,
  maxValueBytes: 0,
  eventRetentionMs: 0,
};

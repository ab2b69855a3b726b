import { NO_SILENCE_LIMITS, type SilenceLimits } from '../../resources/silenced.ts';
import { REFRESH_MS } from '../../rules/token-sessions.ts';

/**
 * Which entities an agent may send events for, beside its own: `own` allows no other entity, `own-and-proxies` also allows
 * entities that do not belong to another agent (proxies, and names that nobody has registered), `any` allows every entity of
 * the agent's namespace.
 */
export type AgentEventsPolicy = 'own' | 'own-and-proxies' | 'any';

/** What an operator has chosen of how decisions are made; the same for every decision of a process. */
export interface Settings {
  /** Whether a silence acts by any subscription of the entity. */
  readonly silencesMatchEntitySubscriptions: boolean;
  readonly silenceLimits: SilenceLimits;
  /** How long a refresh token counts. */
  readonly refreshTokenMs: number;
  /** Entities that may exist; 0 = no limit. */
  readonly entityLimit: number;
  readonly agentEventsPolicy: AgentEventsPolicy;
  /** Whether somebody wants to hear of every event that was processed. */
  readonly announcesEvents: boolean;
}

export const DEFAULT_SETTINGS: Settings = {
  silencesMatchEntitySubscriptions: false,
  silenceLimits: NO_SILENCE_LIMITS,
  refreshTokenMs: REFRESH_MS,
  entityLimit: 0,
  agentEventsPolicy: 'any',
  announcesEvents: false,
};

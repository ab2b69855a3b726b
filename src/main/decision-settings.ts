import { DEFAULT_SETTINGS, type Settings } from '../actors/settings.ts';
import type { BackendConfig } from '../config/backend.ts';

/** What the configuration says of how decisions are made. */
export function decisionSettings(config: BackendConfig): Settings {
  const { silenceMatchEntitySubscriptions, entityLimit, agentEventsPolicy, eventLog } = config;
  return {
    silencesMatchEntitySubscriptions:
      silenceMatchEntitySubscriptions ?? DEFAULT_SETTINGS.silencesMatchEntitySubscriptions,
    entityLimit: entityLimit ?? DEFAULT_SETTINGS.entityLimit,
    agentEventsPolicy: agentEventsPolicy ?? DEFAULT_SETTINGS.agentEventsPolicy,
    announcesEvents: eventLog !== undefined,
  };
}

import { DEFAULT_SETTINGS, type Settings } from '../../actors/core/settings.ts';
import type { BackendConfig } from '../../config/backend.ts';
import type { SecretValues } from '../../pipeline/secrets.ts';

/** Rounds up, so that a limit is never shorter than configured. */
const inSeconds = (ms: number): number => Math.ceil(ms / 1_000);

/** The settings for decisions that follow from the configuration. */
export function decisionSettings(config: BackendConfig, secretValues: SecretValues): Settings {
  const { silenceMatchEntitySubscriptions, entityLimit, agentEventsPolicy, eventLog, watchRetentionMs } = config;
  const { defaultSilenceMs = 0, longestSilenceMs = 0, tokens } = config;
  return {
    silencesMatchEntitySubscriptions:
      silenceMatchEntitySubscriptions ?? DEFAULT_SETTINGS.silencesMatchEntitySubscriptions,
    silenceLimits: { defaultS: inSeconds(defaultSilenceMs), longestS: inSeconds(longestSilenceMs) },
    refreshTokenMs: tokens?.refreshMs ?? DEFAULT_SETTINGS.refreshTokenMs,
    entityLimit: entityLimit ?? DEFAULT_SETTINGS.entityLimit,
    entityUseLimits: config.entityUseLimits ?? DEFAULT_SETTINGS.entityUseLimits,
    agentEventsPolicy: agentEventsPolicy ?? DEFAULT_SETTINGS.agentEventsPolicy,
    announcesEvents: eventLog !== undefined,
    notificationRetentionMs: config.notificationRetentionMs ?? DEFAULT_SETTINGS.notificationRetentionMs,
    ledgerLimits: config.ledgerLimits ?? DEFAULT_SETTINGS.ledgerLimits,
    storeQuotaBytes: config.storeQuotaBytes ?? DEFAULT_SETTINGS.storeQuotaBytes,
    maxValueBytes: config.maxValueBytes ?? DEFAULT_SETTINGS.maxValueBytes,
    eventRetentionMs: config.eventRetentionMs ?? DEFAULT_SETTINGS.eventRetentionMs,
    secretValues,
    watchRetentionMs: watchRetentionMs ?? DEFAULT_SETTINGS.watchRetentionMs,
  };
}

import { type LogFileConfig, type logFileFlags, rotationLimits } from './log-file-flags.ts';
import { type FlagValues, kinds, type Rule } from '../parsing/flags.ts';

const MIN_INTERVAL_MS = 1_000;

export interface MetricsLogConfig {
  /** Not written by default. */
  readonly metricsLog?: (LogFileConfig & { readonly intervalMs: number }) | undefined;
}

export const metricsLogFlags = {
  'disable-platform-metrics': { kind: kinds.boolean, fallback: false, about: 'write no metrics log' },
  'platform-metrics-logging-interval': {
    kind: kinds.duration(),
    fallback: 60_000,
    about: 'time between two records of the metrics log',
  },
  'platform-metrics-log-file': {
    kind: kinds.text,
    fallback: '/var/log/mon/backend-stats.log',
    about: 'file of the metrics log, in the InfluxDB line protocol; rotated like the log file',
  },
};

export const metricsLogRule: Rule<typeof metricsLogFlags> = {
  flags: ['platform-metrics-logging-interval'],
  broken: (values) =>
    values['platform-metrics-logging-interval'] >= MIN_INTERVAL_MS
      ? undefined
      : 'platform-metrics-logging-interval must be at least 1s',
};

export function metricsLogConfig(values: FlagValues<typeof metricsLogFlags & typeof logFileFlags>): MetricsLogConfig {
  const file = values['platform-metrics-log-file'];
  if (values['disable-platform-metrics'] || file === '') return { metricsLog: undefined };
  const intervalMs = values['platform-metrics-logging-interval'];
  return { metricsLog: Object.freeze({ file, intervalMs, ...rotationLimits(values) }) };
}

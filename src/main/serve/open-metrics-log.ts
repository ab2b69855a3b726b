import type { BackendConfig } from '../../config/backend.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { LogFile } from '../log/log-file.ts';
import { type MetricsLogPorts, writeMetrics } from '../log/metrics-log.ts';
import type { Closers } from './closers.ts';

export interface OpenMetricsLogPorts {
  metrics: Pick<MetricsLogPorts, 'read'>;
  backendName: string;
  clock: Clock;
  log: Log;
}

/** Writes the metrics log. Undefined when it is turned off, and when its file cannot be opened, which is logged. */
export async function openMetricsLog(
  { metricsLog: config }: Pick<BackendConfig, 'metricsLog'>,
  { metrics, backendName, clock, log }: OpenMetricsLogPorts,
  closers: Closers,
): Promise<LogFile | undefined> {
  if (config === undefined) return undefined;
  try {
    const file = await LogFile.open(config, { clock, log });
    closers.add(() => file.stop());
    const read = () => metrics.read();
    closers.add(writeMetrics({ file, read, backendName, intervalMs: config.intervalMs, clock, log }));
    return file;
  } catch (err) {
    const flags = ['platform-metrics-log-file', 'disable-platform-metrics'];
    log.warn({ err, flags }, 'metrics log cannot be opened, none is written');
    return undefined;
  }
}

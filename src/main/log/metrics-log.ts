import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { influxLines, type MetricFamily } from './influx-lines.ts';
import type { LogFile } from './log-file.ts';

export interface MetricsLogPorts {
  file: Pick<LogFile, 'write'>;
  /** Reads all metrics. */
  read(): Promise<MetricFamily[]>;
  backendName: string;
  intervalMs: number;
  clock: Clock;
  log: Log;
}

/** Appends the values of all metrics to a file, once per interval. Returns what ends that. */
export function writeMetrics({ file, read, backendName, intervalMs, clock, log }: MetricsLogPorts): () => void {
  let cancel = (): void => undefined;
  const write = (): void => {
    cancel = clock.after(intervalMs, write);
    read().then(
      (families) => {
        file.write(influxLines(families, backendName, clock.nowMs()));
      },
      (err: unknown) => {
        log.error({ err }, 'could not read the values for the metrics log');
      },
    );
  };
  cancel = clock.after(intervalMs, write);
  return () => {
    cancel();
  };
}

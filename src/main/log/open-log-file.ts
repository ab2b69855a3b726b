import type { LogFileConfig } from '../../config/flags/log-file-flags.ts';
import { ConfigError } from '../../config/parsing/flags.ts';
import { LogFile } from './log-file.ts';
import { createLogger, type Logger } from './logger.ts';
import type { Clock } from '../../ports/clock.ts';

/** Redirects the log to its file, if it has one. @throws ConfigError when the file cannot be opened */
export async function openLogFile(
  config: LogFileConfig | undefined,
  { clock, log }: { clock: Clock; log: Logger },
): Promise<LogFile | undefined> {
  if (config === undefined) return undefined;
  try {
    const file = await LogFile.open(config, { clock, log: createLogger('log-file', 'warn') });
    log.redirect(file);
    return file;
  } catch (error) {
    throw new ConfigError([{ flag: 'log-file', rule: `log-file: ${(error as Error).message}` }]);
  }
}

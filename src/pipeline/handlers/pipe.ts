import { runCommand } from '../../exec/process-group.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ProcessReaper } from '../../exec/process-reaper.ts';
import type { Handler } from '../../resources/handler.ts';
import { type HandlerRun, isShortage } from './handler-result.ts';

/** How long to wait for output after the command exits, because a background child may keep the pipe open. */
const LINGER_MS = 2_000;
const MAX_REASON_CHARACTERS = 1_000;
/** A command that expects a secret must not run without it. */
const NO_SECRETS = 'no secret provider defined';

export interface PipeLimits {
  /** Time limit of handlers without a timeout, ms; 0 means none. */
  runLimitMs: number;
  reaper: ProcessReaper;
}

/**
 * Runs a command with the event on its standard input. The event is handled when the command exits with status 0 by itself.
 * The reason is the beginning of the output.
 */
export async function runPipeHandler(
  { command = '', timeout, env_vars, secrets }: Handler,
  { payload, notificationId, signal }: { payload: string | Buffer; notificationId: string; signal: AbortSignal },
  clock: Clock,
  { runLimitMs, reaper }: PipeLimits,
): Promise<HandlerRun> {
  if ((secrets?.length ?? 0) > 0) return { outcome: 'failed', reason: NO_SECRETS, status: undefined };
  const result = await runCommand(
    {
      command,
      stdin: payload,
      environment: [...(env_vars ?? []), `MON_NOTIFICATION_ID=${notificationId}`],
      timeoutMs: timeout > 0 ? timeout * 1_000 : runLimitMs,
      lingerMs: LINGER_MS,
      signal,
    },
    clock,
    reaper,
  );
  const reason = result.output.slice(0, MAX_REASON_CHARACTERS);
  if (result.ending === 'not-started') {
    return isShortage(result.errorCode)
      ? { outcome: 'not-started', reason }
      : { outcome: 'failed', reason, status: undefined };
  }
  const status = result.ending === 'signalled' ? undefined : result.status;
  const outcome = result.ending === 'exited' && status === 0 ? 'handled' : 'failed';
  return { outcome, reason: result.signal === undefined ? reason : `${result.signal}: ${reason}`, status };
}

import { type Account, runCommand } from '../../exec/process-group.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ProcessReaper } from '../../exec/process-reaper.ts';
import type { Handler } from '../../resources/handler.ts';
import { shownOutput } from './shown-output.ts';
import { isShortage } from '../../rules/shortage.ts';
import { type HandlerInput, type HandlerRun, NO_ENVIRONMENT } from './handler-result.ts';

/** How long to wait for output after the command exits, because a background child may keep the pipe open. */
const LINGER_MS = 2_000;
const MAX_REASON_CHARACTERS = 1_000;

/** The outcomes of a command that did not exit with status 0 by itself. */
const OUTCOMES = { exited: 'failed', signalled: 'failed', aborted: 'failed', 'timed-out': 'timed-out' } as const;

export interface PipeLimits {
  /** Time limit of handlers without a timeout, ms; 0 means none. */
  runLimitMs: number;
  reaper: ProcessReaper;
  /** The user account under which commands run; by default that of the backend. */
  account?: Account | undefined;
}

/**
 * Runs a command with the event on its standard input. The event is handled when the command exits with status 0 by itself.
 * The reason is the beginning of the output, without the values of its secrets.
 */
export async function runPipeHandler(
  { command = '', timeout, env_vars }: Handler,
  { payload, notificationId, environment = NO_ENVIRONMENT, signal }: HandlerInput,
  clock: Clock,
  { runLimitMs, reaper, account }: PipeLimits,
): Promise<HandlerRun> {
  const result = await runCommand(
    {
      command,
      stdin: payload,
      environment: [
        ...environment.assets,
        ...(env_vars ?? []),
        ...environment.secrets,
        `MON_NOTIFICATION_ID=${notificationId}`,
      ],
      timeoutMs: timeout > 0 ? timeout * 1_000 : runLimitMs,
      lingerMs: LINGER_MS,
      account,
      signal,
    },
    clock,
    reaper,
  );
  const reason = shownOutput(result.output, environment.secrets, MAX_REASON_CHARACTERS);
  if (result.ending === 'not-started') {
    return isShortage(result.errorCode)
      ? { outcome: 'not-started', reason }
      : { outcome: 'failed', reason, status: undefined };
  }
  const status = result.ending === 'signalled' ? undefined : result.status;
  const outcome = result.ending === 'exited' && status === 0 ? 'handled' : OUTCOMES[result.ending];
  return { outcome, reason: result.signal === undefined ? reason : `${result.signal}: ${reason}`, status };
}

import type { CommandResult } from '../../exec/process-group.ts';
import { substituteTokens, TokenError } from '../../formats/tokens.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Entity } from '../../resources/entity.ts';
import { InvalidResource } from '../../resources/errors.ts';
import type { CheckEvent } from '../../resources/event.ts';
import { assertHook, type Hook, hookWithDefaults } from '../../resources/hook.ts';
import type { CheckRequest } from '../../wire/check-request.ts';
import { type CommandRunner, deniedStatus, outcomeOf } from './command-runner.ts';
import { inputOf } from './command-input.ts';
import { tokenData } from './token-data.ts';

export type HookResult = NonNullable<CheckEvent['check']['hooks']>[number];

const STATUS_CRITICAL = 2;
const STATUS_UNKNOWN = 3;
/** The status of a hook has 32 bits with a sign. */
const MAX_STATUS = 2 ** 31 - 1;
/** The time limit in the result of a hook that has none, seconds. */
const DEFAULT_TIMEOUT_S = 5;

const DENIED = 'check hook command denied by the agent allow list';

interface HookPorts {
  clock: Clock;
  runner: CommandRunner;
  entity(): Entity;
}

/** Runs the hooks of a check after its command. */
export class Hooks {
  readonly #ports: HookPorts;

  constructor(ports: HookPorts) {
    this.#ports = ports;
  }

  /**
   * Runs the hooks for the status of the event, one after the other, each once. Returns their results; none for an aborted one.
   * Source: spec/03 4.5.
   */
  async run(request: CheckRequest, event: CheckEvent, signal: AbortSignal): Promise<HookResult[]> {
    const results: HookResult[] = [];
    // A backend that sends no hooks at all has none of them.
    const names = (request.hooks ?? []).length === 0 ? [] : hookNames(event.check);
    for (const name of names) {
      const result = await this.#result(name, request, event, signal);
      if (result !== undefined) results.push(result);
    }
    return results;
  }

  async #result(
    name: string,
    { hooks, hook_assets: hookAssets }: CheckRequest,
    event: CheckEvent,
    signal: AbortSignal,
  ): Promise<HookResult | undefined> {
    const { clock, runner } = this.#ports;
    const hook = hooks?.find(({ metadata }) => metadata.name === name);
    const record = recorder(hook ?? missing(name, event), Math.floor(clock.nowMs() / 1_000));
    if (hook === undefined) return record(critical(`hook ${name}: missing hook config\n`));
    const filled = this.#filled(hook);
    if (typeof filled === 'string') return record(critical(`hook ${name}: ${filled}\n`));
    const command = {
      command: filled.command ?? '',
      stdin: filled.stdin ? inputOf(event) : undefined,
      timeoutS: filled.timeout,
      assets: hookAssets[name]?.assets ?? [],
      secrets: [],
      variables: [],
    };
    const result = await runner.run(command, signal);
    if (result === 'denied')
      return record({ status: deniedStatus(hook.metadata.annotations, MAX_STATUS), output: DENIED });
    if (result instanceof Error) {
      return record({ status: STATUS_UNKNOWN, output: `error getting assets for hook: ${result.reason}` });
    }
    return result.ending === 'aborted' ? undefined : record({ ...outcomeOf(result), durationMs: result.durationMs });
  }

  /** Returns the hook with its tokens filled, or the text of the error. */
  #filled(hook: Hook): Hook | string {
    const quoted = `hook "${hook.metadata.name ?? ''}"`;
    try {
      assertHook(hook);
      return substituteTokens(hook, tokenData(this.#ports.entity()));
    } catch (error) {
      if (error instanceof InvalidResource) return `${quoted} is invalid: ${error.message}`;
      if (error instanceof TokenError) return `${quoted}: error doing token substitution: ${error.message}`;
      throw error;
    }
  }
}

interface Outcome extends Pick<CommandResult, 'status' | 'output'> {
  /** Undefined when the command was refused. */
  durationMs?: number;
}

const critical = (output: string): Outcome => ({ status: STATUS_CRITICAL, output, durationMs: 0 });

/** Returns a function that adds an outcome to the definition of a hook. */
const recorder =
  (hook: Hook, executed: number) =>
  ({ status, output, durationMs }: Outcome): HookResult => ({
    ...hook,
    timeout: hook.timeout || DEFAULT_TIMEOUT_S,
    duration: durationMs === undefined ? undefined : durationMs / 1_000,
    executed,
    issued: 0,
    output: output === '' ? undefined : output,
    status,
  });

const missing = (name: string, { check }: CheckEvent): Hook =>
  hookWithDefaults({ metadata: { name, namespace: check.metadata.namespace ?? '' } });

/** The names of the hooks for the status of the check, in the order of their lists, without repetitions. */
function hookNames({ check_hooks: lists, status }: CheckEvent['check']): string[] {
  const names = (lists ?? []).flatMap((list) =>
    Object.entries(list).flatMap(([type, hooks]) => (isFor(type, status) ? (hooks ?? []) : [])),
  );
  return [...new Set(names)];
}

function isFor(type: string, status: number): boolean {
  switch (type) {
    case 'ok':
      return status === 0;
    case 'warning':
      return status === 1;
    case 'critical':
      return status === 2;
    case 'unknown':
      return status > 2;
    case 'non-zero':
      return status !== 0;
    default:
      return type === String(status);
  }
}

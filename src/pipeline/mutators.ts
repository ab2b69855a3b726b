import type { CommandRequest, CommandResult } from '../exec/process-group.ts';
import type { Log } from '../ports/log.ts';
import type { Event } from '../resources/event.ts';
import type { Mutator } from '../resources/mutator.ts';
import { isShortage } from '../rules/shortage.ts';
import { encodeJsonInTicks, TickBudget } from '../store/commit/tick-budget.ts';
import type { RunOwner } from './filters.ts';
import type { Environment } from './handlers/handler-result.ts';
import { NotStarted } from './not-started.ts';
import { RunEnded } from './run-ended.ts';
import { shownOutput } from './handlers/shown-output.ts';

/** The time limit of a JavaScript mutator without a timeout. */
const DEFAULT_JAVASCRIPT_TIMEOUT_MS = 1_000;
/** How long to wait for output after the command exits, because a background child may keep the pipe open. */
const LINGER_MS = 2_000;
const MAX_ERROR_CHARACTERS = 1_000;
const TIMED_OUT = 'mutator timeout reached, execution halted';

export interface MutationTask {
  /** With its secrets redacted. */
  event: Event;
  /** The body of a function. */
  body: string;
  /** Global texts. */
  variables: Readonly<Record<string, string>>;
  /** Sources that run before the body. */
  libraries: readonly string[];
  timeoutMs: number;
  nowMs: number;
}

export interface MutatorPorts {
  mutator(namespace: string, name: string): Mutator | undefined;
  /** Environment entries of the assets and the secrets of a resource, in that order. @throws RunEnded */
  environment(namespace: string, owner: string, resource: Mutator, signal: AbortSignal): Promise<Environment>;
  /**
   * The sources of the JavaScript libraries of assets. `owner` is the resource as errors name it. The signal aborts their download.
   * @throws RunEnded, the reason of the signal
   */
  libraries(
    namespace: string,
    owner: string,
    assets: readonly string[] | null,
    signal?: AbortSignal,
  ): Promise<readonly string[]>;
  /** A variable of this program's environment, for mutators that name one without a value. */
  variable(name: string): string | undefined;
  evaluate(task: MutationTask, owner: RunOwner): Promise<{ data: string } | { error: string }>;
  runCommand(request: CommandRequest): Promise<CommandResult>;
  /** Time limit of commands without a timeout, ms; 0 means none. */
  runLimitMs: number;
  /** Bounds what is encoded in one tick. */
  budget?: TickBudget;
  log: Log;
}

export interface MutatedRun {
  namespace: string;
  /** Undefined for the default, `json`. */
  mutator: string | undefined;
  /** With its secrets redacted. */
  event: Event;
  nowMs: number;
  signal: AbortSignal;
}

/** Returns the input of a handler. @throws RunEnded, NotStarted */
export async function mutate(run: MutatedRun, ports: MutatorPorts): Promise<string | Buffer> {
  const { mutator: name = 'json', namespace, event } = run;
  if (name === 'json') return encoded(event, ports);
  if (name === 'only_check_output') {
    if (event.check !== undefined) return event.check.output;
    throw new RunEnded('failed', 'event requires a check for the only_check_output mutator to work');
  }
  const mutator = ports.mutator(namespace, name);
  if (mutator === undefined) throw new RunEnded('skipped', `mutator "${name}" does not exist`);
  return mutator.type === 'javascript' ? evaluated(run, name, mutator, ports) : piped(run, name, mutator, ports);
}

/** Yields to other work while it encodes long texts. */
const encoded = async (event: Event, { budget = new TickBudget() }: MutatorPorts): Promise<Buffer> =>
  Buffer.concat(await encodeJsonInTicks(event, budget));

/** An entry without a value takes it from the environment of this program. */
async function evaluated(
  { namespace, event, nowMs, signal }: MutatedRun,
  name: string,
  mutator: Mutator,
  { evaluate, variable, libraries: librariesOf }: MutatorPorts,
): Promise<string> {
  const variables = Object.fromEntries(
    (mutator.env_vars ?? []).map((entry) => {
      const equals = entry.indexOf('=');
      return equals === -1 ? [entry, variable(entry) ?? ''] : [entry.slice(0, equals), entry.slice(equals + 1)];
    }),
  );
  const libraries = await librariesOf(namespace, `mutator "${name}"`, mutator.runtime_assets, signal);
  const timeoutMs = mutator.timeout > 0 ? mutator.timeout * 1_000 : DEFAULT_JAVASCRIPT_TIMEOUT_MS;
  const task = { event, body: mutator.eval ?? '', variables, libraries, timeoutMs, nowMs };
  const result = await evaluate(task, { namespace, name: event.check?.metadata.name ?? '' });
  if ('data' in result) return result.data;
  throw new RunEnded(result.error === TIMED_OUT ? 'timed-out' : 'failed', `mutator "${name}": ${result.error}`);
}

/** The data is the standard output, byte for byte; standard error goes to the log. */
async function piped(run: MutatedRun, name: string, mutator: Mutator, ports: MutatorPorts): Promise<Buffer> {
  const { namespace, event, signal } = run;
  const owner = `mutator "${name}"`;
  const { assets, secrets } = await ports.environment(namespace, owner, mutator, signal);
  const result = await ports.runCommand({
    command: mutator.command ?? '',
    stdin: await encoded(event, ports),
    environment: [...assets, ...(mutator.env_vars ?? []), ...secrets],
    timeoutMs: mutator.timeout > 0 ? mutator.timeout * 1_000 : ports.runLimitMs,
    lingerMs: LINGER_MS,
    signal,
    separatesErrors: true,
  });
  const errors = shownOutput(result.errors, secrets, MAX_ERROR_CHARACTERS);
  const text = errors === '' ? shownOutput(result.output, secrets, MAX_ERROR_CHARACTERS) : errors;
  if (result.ending === 'not-started') {
    throw isShortage(result.errorCode) ? new NotStarted(text) : new RunEnded('failed', `${owner}: ${text}`);
  }
  if (result.ending === 'timed-out') throw new RunEnded('timed-out', `${owner}: ${TIMED_OUT}`);
  if (result.ending !== 'exited' || result.status !== 0) {
    const how = result.signal ?? `exit status ${result.status}`;
    throw new RunEnded('failed', `${owner}: pipe mutator execution returned non-zero exit status (${how}): ${text}`);
  }
  if (result.isCut) throw new RunEnded('failed', `${owner}: its output is longer than ${result.bytes.length} bytes`);
  if (errors !== '') ports.log.info({ namespace, mutator: name, errors }, 'mutator wrote to its standard error');
  return result.bytes;
}

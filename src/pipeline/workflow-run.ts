import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Handler } from '../resources/handler.ts';
import { redactEvent } from '../resources/redaction.ts';
import { Overloaded } from '../resources/errors.ts';
import { canRun } from '../rules/run-plan.ts';
import { isShortageError } from '../rules/shortage.ts';
import type { OutboxEntry } from '../store/records/records.ts';
import { type FilterPorts, passFilters } from './filters.ts';
import { type Environment, type HandlerInput, type HandlerRun, NO_ENVIRONMENT } from './handlers/handler-result.ts';
import { mutate, type MutatorPorts } from './mutators.ts';
import { NotStarted } from './not-started.ts';
import { RunEnded } from './run-ended.ts';

/** The reason for skipping the runs of a namespace that was deleted meanwhile. */
export const NAMESPACE_DELETED = 'namespace was deleted';

/** Runs a handler of type pipe, tcp or udp. Never rejects. */
export type HandleEvent = (handler: Handler, input: HandlerInput, entry: OutboxEntry) => Promise<HandlerRun>;

export interface WorkflowPorts {
  clock: Pick<Clock, 'nowMs'>;
  log: Log;
  /** The current configuration of the handler. */
  handler(namespace: string, name: string): Handler | undefined;
  namespaceExists(name: string): boolean;
  filters: FilterPorts;
  mutators: MutatorPorts;
  /** Environment entries of the assets and the secrets of a handler. @throws RunEnded */
  environment(namespace: string, owner: string, handler: Handler, signal: AbortSignal): Promise<Environment>;
  handle: HandleEvent;
}

export interface RunOptions {
  /** Whether an earlier attempt has passed the filters, which are not evaluated again. */
  hasPassedFilters: boolean;
  /** Aborts the run. */
  signal: AbortSignal;
}

/**
 * Returns a function that performs one run of the outbox: it evaluates the filters, mutates the event and runs the
 * handler. The function never rejects: an unexpected error is logged, and the outcome is `failed`.
 */
export function workflowRunner(ports: WorkflowPorts) {
  return async (entry: OutboxEntry, options: RunOptions): Promise<HandlerRun> => {
    const progress = { hasPassedFilters: options.hasPassedFilters };
    try {
      return await runWorkflow(entry, { ...options, progress }, ports);
    } catch (error) {
      const end = endOf(error, entry, options, ports);
      return progress.hasPassedFilters || end.outcome === 'not-started' ? end : { ...end, isUnfiltered: true };
    }
  };
}

function endOf(error: unknown, entry: OutboxEntry, { signal }: RunOptions, { log }: WorkflowPorts): HandlerRun {
  if (error instanceof RunEnded) return error.result;
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof NotStarted || error instanceof Overloaded || isShortageError(error)) {
    return { outcome: 'not-started', reason: message };
  }
  if (!signal.aborted) {
    const { namespace, pipeline, workflow, handler, key } = entry;
    const fields = { err: error, namespace, pipeline, workflow, handler, event: key };
    log.error(fields, 'could not run a handler because of an internal error');
  }
  return { outcome: 'failed', reason: `internal error: ${message}`, status: undefined };
}

/** Notes in `progress` that the filters have passed. */
async function runWorkflow(
  entry: OutboxEntry,
  { signal, progress }: RunOptions & { progress: { hasPassedFilters: boolean } },
  ports: WorkflowPorts,
): Promise<HandlerRun> {
  const { namespace, pipeline, filters = [], notificationId } = entry;
  if (!ports.namespaceExists(namespace)) throw new RunEnded('skipped', NAMESPACE_DELETED);
  const event = redactEvent(entry.event);
  const nowMs = ports.clock.nowMs();
  const isFiltered = progress.hasPassedFilters;
  const notes = isFiltered ? [] : await passFilters({ namespace, filters, event, nowMs, signal }, ports.filters);
  progress.hasPassedFilters = true;
  const mutator = pipeline === undefined ? handlerOf(entry, ports).mutator : entry.mutator;
  const payload = await mutate({ namespace, mutator, event, nowMs, signal }, ports.mutators);
  const handler = handlerOf(entry, ports);
  // Only commands have assets and secrets.
  const environment =
    handler.type === 'pipe'
      ? await ports.environment(namespace, `handler "${entry.handler}"`, handler, signal)
      : NO_ENVIRONMENT;
  const result = await ports.handle(handler, { payload, notificationId, environment, signal }, entry);
  return notes.length === 0 ? result : { ...result, reason: `${notes.join('; ')}\n${result.reason}` };
}

/** @throws RunEnded when the handler cannot run with its current configuration */
function handlerOf({ namespace, handler: name, pipeline }: OutboxEntry, ports: WorkflowPorts): Handler {
  const handler = ports.handler(namespace, name);
  if (handler === undefined) throw new RunEnded('skipped', 'handler does not exist');
  if (canRun(handler)) return handler;
  throw new RunEnded(
    'skipped',
    pipeline === undefined ? `handler is of type ${handler.type} now` : 'unknown handler type',
  );
}

import type { Event } from '../resources/event.ts';
import type { EventFilter } from '../resources/event-filter.ts';
import { decideByWindows } from '../rules/run-plan.ts';
import { RunEnded } from './run-ended.ts';

/** A filter with the JavaScript sources of its assets. */
export interface FilterProgram {
  name: string;
  action: 'allow' | 'deny';
  expressions: readonly string[];
  libraries: readonly string[];
}

/** The owner of an evaluation: a namespace, and a check in it. */
export interface RunOwner {
  namespace: string;
  name: string;
}

export interface FilterTask {
  /** With its secrets redacted. */
  event: Event;
  filters: readonly FilterProgram[];
  nowMs: number;
}

/** The result of the sandbox. `notes` name expressions that threw, which do not count. */
export type FilterResult =
  | { passes: true; notes: readonly string[] }
  | { passes: false; filter: string; expression: string; value: string }
  | { passes: false; filter: string; failed: string };

export interface FilterPorts {
  filter(namespace: string, name: string): EventFilter | undefined;
  /** The JavaScript sources of the filter's assets. The signal aborts their download. @throws RunEnded, the reason of the signal */
  libraries(namespace: string, name: string, filter: EventFilter, signal?: AbortSignal): Promise<readonly string[]>;
  evaluate(task: FilterTask, owner: RunOwner): Promise<FilterResult>;
}

/** The filters of one run, with what they decide about. */
export interface FilteredRun {
  namespace: string;
  /** Names of stored filters, in order. */
  filters: readonly string[];
  /** With its secrets redacted. */
  event: Event;
  nowMs: number;
  signal: AbortSignal;
}

/**
 * Evaluates the stored filters of a run in order, up to the first that denies the event. Returns notes about expressions that
 * threw and therefore do not count.
 * @throws RunEnded: the run is denied, or skipped when a filter does not exist
 */
export async function passFilters(run: FilteredRun, ports: FilterPorts): Promise<readonly string[]> {
  const { namespace, event, nowMs } = run;
  const { programs, end } = await programsOf(run, ports);
  const owner = { namespace, name: event.check?.metadata.name ?? '' };
  const result = programs.length === 0 ? PASSED : await ports.evaluate({ event, filters: programs, nowMs }, owner);
  if (!result.passes) throw new RunEnded('denied', reasonOf(result));
  if (end !== undefined) throw end;
  return result.notes;
}

const PASSED: FilterResult = { passes: true, notes: [] };

/** Returns the filters up to the first that ends the run without an evaluation, and that end. */
async function programsOf(
  { namespace, filters, nowMs, signal }: FilteredRun,
  ports: FilterPorts,
): Promise<{ programs: FilterProgram[]; end?: RunEnded }> {
  const programs: FilterProgram[] = [];
  for (const name of filters) {
    const filter = ports.filter(namespace, name);
    if (filter === undefined) return { programs, end: new RunEnded('skipped', `filter "${name}" does not exist`) };
    const decision = decideByWindows(filter, name, nowMs);
    if (decision?.passes === true) continue;
    if (decision !== undefined) return { programs, end: new RunEnded('denied', decision.reason) };
    try {
      const libraries = await ports.libraries(namespace, name, filter, signal);
      const action = filter.action === 'deny' ? 'deny' : 'allow';
      programs.push({ name, action, expressions: filter.expressions ?? [], libraries });
    } catch (error) {
      if (error instanceof RunEnded) return { programs, end: error };
      throw error;
    }
  }
  return { programs };
}

/** Why the filters deny the event. A filter that was stopped by a limit denies it too. */
export const reasonOf = (result: Exclude<FilterResult, { passes: true }>): string =>
  'failed' in result
    ? `failed: ${result.filter}: ${result.failed}`
    : `${result.filter}: ${result.expression} was ${result.value}`;

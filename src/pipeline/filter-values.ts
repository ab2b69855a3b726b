import type { Event } from '../resources/event.ts';
import type { EventFilter } from '../resources/event-filter.ts';
import { decideByWindows } from '../rules/run-plan.ts';
import { type FilterPorts, type FilterResult, reasonOf } from './filters.ts';
import { type End, endedBy } from './dry-run-end.ts';

/** Expressions of one filter that are evaluated one by one. */
const MAX_EXPRESSIONS = 20;

/** The name under which the tasks of dry runs share the sandbox with those of checks. No check has it. */
const DRY_RUN = 'dry run';

/** The value of each expression of a filter. */
export interface FilterValues {
  /** Undefined when it cannot be found out. */
  passes: boolean | undefined;
  /** Why it denies the event, or is not evaluated. */
  note: string;
  expressions: { expression: string; value: string }[];
  /** How it ends a run; undefined when it passes the event. */
  end: End | undefined;
}

/** The note of what was not evaluated at the bounds of a dry run. */
export const NOT_EVALUATED = 'not evaluated, because the dry run is too large';

interface Subject {
  namespace: string;
  event: Event;
  nowMs: number;
  isOver(): boolean;
}

/** Evaluates each expression of a stored filter by itself. */
export async function valuesOf(
  name: string,
  filter: EventFilter | undefined,
  subject: Subject,
  ports: FilterPorts,
): Promise<FilterValues> {
  if (filter === undefined) return ended({ outcome: 'skipped', reason: `filter "${name}" does not exist` }, false);
  const windows = decideByWindows(filter, name, subject.nowMs);
  if (windows?.passes === false) return ended({ outcome: 'denied', reason: windows.reason }, false);
  if (windows !== undefined) return { passes: true, note: '', expressions: [], end: undefined };
  try {
    return await evaluated(name, filter, subject, ports);
  } catch (error) {
    return ended(endedBy(error), undefined);
  }
}

const ended = (end: End, passes: boolean | undefined): FilterValues => ({
  passes,
  note: end.reason,
  expressions: [],
  end,
});

async function evaluated(
  name: string,
  filter: EventFilter,
  { namespace, event, nowMs, isOver }: Subject,
  ports: FilterPorts,
): Promise<FilterValues> {
  const all = filter.expressions ?? [];
  const libraries = await ports.libraries(namespace, name, filter);
  const owner = { namespace, name: DRY_RUN };
  const evaluate = (action: 'allow' | 'deny', expressions: readonly string[]): Promise<FilterResult> =>
    ports.evaluate({ event, filters: [{ name, action, expressions, libraries }], nowMs }, owner);
  if (isOver()) return ended({ outcome: 'unknown', reason: NOT_EVALUATED }, undefined);
  const result = await evaluate(filter.action === 'deny' ? 'deny' : 'allow', all);
  const expressions: FilterValues['expressions'] = [];
  for (const expression of all.slice(0, MAX_EXPRESSIONS)) {
    expressions.push({ expression, value: isOver() ? NOT_EVALUATED : await valueOf(expression, evaluate) });
  }
  const { passes } = result;
  const note = passes ? result.notes.join('; ') : reasonOf(result);
  return { passes, note, expressions, end: passes ? undefined : { outcome: 'denied', reason: note } };
}

/** A filter of one expression denies with its value: when it holds, or when it does not. */
async function valueOf(
  expression: string,
  evaluate: (action: 'allow' | 'deny', expressions: readonly string[]) => Promise<FilterResult>,
): Promise<string> {
  for (const action of ['deny', 'allow'] as const) {
    const result = await evaluate(action, [expression]);
    if (!result.passes) return 'failed' in result ? `failed: ${result.failed}` : result.value;
    const [note] = result.notes;
    if (note !== undefined) return note;
  }
  return '';
}

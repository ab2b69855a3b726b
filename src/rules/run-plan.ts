import type { EventFilter } from '../resources/event-filter.ts';
import type { Handler } from '../resources/handler.ts';
import type { Pipeline } from '../resources/pipeline.ts';
import { denialBy, type FilterInput, isBuiltInFilter } from './built-in-filters.ts';
import { isInClockWindows } from './clock-windows.ts';
import { NO_HANDLER, selectHandlers } from './handler-selection.ts';
import { LeftOutNames } from './left-out-names.ts';

/** The maximum number of runs of one event. */
const MAX_RUNS = 1_000;
/** The maximum number of filters that are looked up for one event, including duplicates. */
const MAX_FILTERS_READ = 10_000;
/** The maximum number of further runs of one event that are looked up, to name their handlers. */
const MAX_LEFT_OUT = 10_000;

const TOO_MANY_RUNS = `an event leads to at most ${MAX_RUNS} runs of handlers: this one and those after it are left out`;
const TOO_MANY_FILTERS = `the handlers of an event have at most ${MAX_FILTERS_READ} filters together: this one and those after it are left out`;
const NO_FILTERS: readonly string[] = [];
const UNHANDLED = 'the check is not handled: its attribute handle is false';
const BUILT_IN_MUTATORS = new Set(['json', 'only_check_output']);
const RUNNABLE = new Set(['pipe', 'tcp', 'udp']);

/** Whether the handler runs by itself. A set does not; its members do. */
export const canRun = ({ type = '' }: Pick<Handler, 'type'>): boolean => RUNNABLE.has(type);

export const isBuiltInMutator = (name: string): boolean => BUILT_IN_MUTATORS.has(name);

/** The current configuration of the namespace of the event. */
export interface PipelineResources {
  pipeline(name: string): Pipeline | undefined;
  handler(name: string): Handler | undefined;
  filter(name: string): EventFilter | undefined;
  hasMutator(name: string): boolean;
}

/** Decides a filter that needs no sandbox. Undefined for one that does. */
export type DecideSimply = (filter: EventFilter, name: string) => FilterDecision | undefined;

/** The outcome of a filter: it passes the event, or denies it for this reason. */
export type FilterDecision = { passes: true } | { passes: false; reason: string };

/** The handlers and pipelines that an event names. */
export interface NamedByEvent {
  pipelines: readonly { name: string }[];
  handlers: readonly string[];
  /** Whether the check is to be handled. */
  isHandled: boolean;
}

/** A workflow of a pipeline, or a handler that a check names. */
export interface RunName {
  /** Undefined for a handler that a check names. */
  pipeline?: string | undefined;
  workflow?: string | undefined;
  /** Empty for a pipeline that leads to no handler. */
  handler: string;
  /**
   * Its number among the runs of an event with the same pipeline, workflow and handler: 2 for the second one. Undefined for
   * the first, which nearly always is the only one.
   */
  nth?: number | undefined;
  /** The handlers of further runs that are left out for the same reason. */
  others?: readonly string[] | undefined;
}

/** A run and what is known about it when the event is decided. */
export interface PlannedRun extends RunName {
  /** Undefined for the default, `json`. */
  mutator?: string | undefined;
  /** `open`: it is to be run if its filters pass the event. Otherwise the run has ended with this outcome. */
  outcome: 'open' | 'denied' | 'skipped';
  /** Why it was denied or skipped; empty for an open run. */
  reason: string;
  /** The stored filters that are still to be evaluated, in order. */
  filters: readonly string[];
  /** All filters that its workflow or handler names, in order. */
  namedFilters: readonly string[];
}

interface Candidate extends RunName {
  filters: readonly string[];
  mutator: string | undefined;
  /** The handler, if it was looked up already. */
  found?: Handler | undefined;
  /** Why it cannot run, whatever its filters decide. */
  reason?: string | undefined;
}

export interface PlanPorts {
  resources: PipelineResources;
  /** Wall clock, for filters with windows. */
  nowMs: number;
  decideSimply?: DecideSimply | undefined;
}

/**
 * Returns the runs that an event leads to, in order: the workflows of its pipelines, then its handlers by name, with sets replaced
 * by their members. It decides all filters that need no sandbox, and has no effects.
 */
export function planRuns(named: NamedByEvent, input: FilterInput, ports: PlanPorts): PlannedRun[] {
  const only = onlyCandidate(named, ports.resources);
  if (only !== undefined) return [planOrSkip(only, named, input, ports)];
  const planned: PlannedRun[] = [];
  let filtersRead = 0;
  const all = candidates(named, ports.resources);
  for (let next = all.next(); next.done !== true; next = all.next()) {
    const candidate = next.value;
    const full = planned.length === MAX_RUNS ? TOO_MANY_RUNS : undefined;
    filtersRead += candidate.filters.length;
    const excess = full ?? (filtersRead > MAX_FILTERS_READ ? TOO_MANY_FILTERS : undefined);
    if (excess !== undefined) return [...planned, leftOut(candidate, all, excess)];
    planned.push(planOrSkip(candidate, named, input, ports));
  }
  return planned;
}

const planOrSkip = (candidate: Candidate, named: NamedByEvent, input: FilterInput, ports: PlanPorts): PlannedRun =>
  named.isHandled ? plan(candidate, input, ports) : ended(candidate, 'skipped', UNHANDLED);

/** Returns the only run of an event that names one handler, as most events do. Undefined if it names more, a set, or a pipeline. */
function onlyCandidate({ pipelines, handlers }: NamedByEvent, resources: PipelineResources): Candidate | undefined {
  const [handler] = handlers;
  if (pipelines.length > 0 || handlers.length > 1 || handler === undefined) return undefined;
  const found = resources.handler(handler);
  if (found === undefined) return { handler, filters: NO_FILTERS, mutator: undefined, reason: NO_HANDLER };
  const filters = found.filters ?? NO_FILTERS;
  if (found.type === 'set' || filters.length > MAX_FILTERS_READ) return undefined;
  return { handler, filters, mutator: found.mutator, found };
}

/** One run that stands for all that are left out, with the names of their handlers. */
function leftOut(first: Candidate, rest: Iterable<Candidate>, why: string): PlannedRun {
  const names = new LeftOutNames();
  const add = ({ handler, others = [] }: Candidate): void => {
    for (const name of [handler, ...others]) names.add(name);
  };
  add(first);
  let read = 0;
  for (const candidate of rest) {
    add(candidate);
    read += 1;
    if (read === MAX_LEFT_OUT) names.stop();
    if (names.isFull) break;
  }
  return { ...ended(first, 'skipped', names.reason(why)), others: names.listed.others };
}

function* candidates({ pipelines, handlers }: NamedByEvent, resources: PipelineResources): Generator<Candidate> {
  const counts = new Map<string, number>();
  for (const { name } of pipelines) {
    for (const candidate of workflowsOf(name, resources)) {
      const names = JSON.stringify([name, candidate.workflow, candidate.handler]);
      const nth = (counts.get(names) ?? 0) + 1;
      counts.set(names, nth);
      yield nth === 1 ? candidate : { ...candidate, nth };
    }
  }
  if (handlers.length === 0) return;
  const { selected, unselected } = selectHandlers(handlers, (name) => resources.handler(name));
  for (const [handler, found] of selected) {
    yield { handler, filters: found.filters ?? NO_FILTERS, mutator: found.mutator, found };
  }
  for (const { name, reason, others } of unselected) {
    yield { handler: name, filters: NO_FILTERS, mutator: undefined, reason, others };
  }
}

/** The filters and the mutator of the handlers themselves do not count in a pipeline. */
function* workflowsOf(pipeline: string, resources: PipelineResources): Iterable<Candidate> {
  const workflows = resources.pipeline(pipeline)?.workflows;
  const nothing = { pipeline, handler: '', filters: NO_FILTERS, mutator: undefined };
  if (workflows === undefined) yield { ...nothing, reason: `pipeline "${pipeline}" does not exist` };
  else if (workflows === null || workflows.length === 0) yield { ...nothing, reason: 'pipeline has no workflows' };
  for (const { name, filters, mutator, handler } of workflows ?? []) {
    yield {
      pipeline,
      workflow: name,
      handler: handler?.name ?? '',
      filters: filters?.map((filter) => filter.name) ?? [],
      mutator: mutator?.name,
    };
  }
}

function plan(candidate: Candidate, input: FilterInput, ports: PlanPorts): PlannedRun {
  if (candidate.reason !== undefined) return ended(candidate, 'skipped', candidate.reason);
  for (const filter of candidate.filters) {
    const denial = denialBy(filter, input);
    if (denial !== undefined) return ended(candidate, 'denied', denial);
  }
  const stored = decideStored(candidate, ports);
  if ('outcome' in stored) return stored;
  const { pipeline, workflow, handler, nth, mutator, filters: namedFilters } = candidate;
  const reason = stored.filters.length === 0 ? problemOf(candidate, ports.resources) : undefined;
  if (reason !== undefined) return ended(candidate, 'skipped', reason);
  const names = { pipeline, workflow, handler, nth };
  return { ...names, mutator, outcome: 'open', reason: '', filters: stored.filters, namedFilters };
}

/** Decides the stored filters up to the first one that needs the sandbox. Returns this one and those after it. */
function decideStored(candidate: Candidate, ports: PlanPorts): PlannedRun | { filters: string[] } {
  const names = candidate.filters.filter((name) => !isBuiltInFilter(name));
  for (const [index, name] of names.entries()) {
    const filter = ports.resources.filter(name);
    if (filter === undefined) return ended(candidate, 'skipped', `filter "${name}" does not exist`);
    const decision = decideByWindows(filter, name, ports.nowMs) ?? ports.decideSimply?.(filter, name);
    if (decision === undefined) return { filters: names.slice(index) };
    if (!decision.passes) return ended(candidate, 'denied', decision.reason);
  }
  return { filters: [] };
}

/** Decides a filter by its clock windows. Undefined where its expressions decide. Source: spec/04 2.7. */
export function decideByWindows(
  { action, when }: Pick<EventFilter, 'action' | 'when'>,
  name: string,
  atMs: number,
): FilterDecision | undefined {
  if (when === undefined) return undefined;
  const isInside = isInClockWindows(when, atMs);
  if (isInside === undefined) return { passes: true };
  if (action === 'deny') return isInside ? { passes: false, reason: `${name}: inside its time windows` } : undefined;
  return isInside ? undefined : { passes: false, reason: `${name}: outside its time windows` };
}

/** Why a run whose filters passed cannot be run, if so. A stored mutator runs before its handler is looked up. */
function problemOf({ handler, mutator, found }: Candidate, resources: PipelineResources): string | undefined {
  const isStored = mutator !== undefined && !isBuiltInMutator(mutator);
  if (isStored) return resources.hasMutator(mutator) ? undefined : `mutator "${mutator}" does not exist`;
  return handlerProblem(found ?? resources.handler(handler));
}

/** Why a handler cannot run, if so. */
export function handlerProblem(handler: Pick<Handler, 'type'> | undefined): string | undefined {
  if (handler === undefined) return NO_HANDLER;
  return canRun(handler) ? undefined : 'unknown handler type';
}

function ended(
  { pipeline, workflow, handler, nth, others, mutator, filters: namedFilters }: Candidate,
  outcome: 'denied' | 'skipped',
  reason: string,
): PlannedRun {
  return { pipeline, workflow, handler, nth, others, mutator, outcome, reason, filters: NO_FILTERS, namedFilters };
}

import type { Event } from '../resources/event.ts';
import type { Handler } from '../resources/handler.ts';
import type { Mutator } from '../resources/mutator.ts';
import { redactEvent } from '../resources/redaction.ts';
import { denialBy, filterInputOf, type FilterInput, isBuiltInFilter } from '../rules/built-in-filters.ts';
import { NO_HANDLER } from '../rules/handler-selection.ts';
import {
  isBuiltInMutator,
  type NamedByEvent,
  type PlannedRun,
  planRuns,
  type PipelineResources,
} from '../rules/run-plan.ts';
import type { FilterPorts } from './filters.ts';
import { type End, endedBy, isUnknown } from './dry-run-end.ts';
import { type FilterValues, NOT_EVALUATED, valuesOf } from './filter-values.ts';
import { type MutatorPorts, mutate } from './mutators.ts';

/** Runs of one dry run. Further ones are counted and not examined. */
const MAX_DRY_RUNS = 50;
/** Distinct stored filters that are evaluated. */
const MAX_FILTERS = 20;
/** After this time nothing more is evaluated in the sandbox, ms. */
const MAX_EVALUATION_MS = 5_000;
/** The beginning of a payload that is shown. */
const MAX_SHOWN_CHARACTERS = 10_000;

/** The input of a dry run: an event, and the handlers and pipelines to run with it. */
export interface DryRunRequest {
  namespace: string;
  event: Event;
  named: NamedByEvent;
}

/** A filter of a run, and whether it passes the event. */
interface DryFilter extends FilterValues {
  name: string;
  isBuiltIn: boolean;
}

export interface DryRunOutcome {
  pipeline: string | undefined;
  workflow: string | undefined;
  handler: string;
  outcome: End['outcome'];
  reason: string;
  filters: DryFilter[];
  mutator: { name: string; isEvaluated: boolean; note: string; payload: string | undefined; bytes: number | undefined };
  /** Undefined when the handler does not exist. */
  target: { type: string; command: string | undefined; socket: string | undefined } | undefined;
  /** Assets and secrets without which the run would end. */
  missing: string[];
}

/** The examined runs, and the number of those that were not examined. */
export interface DryRunResult {
  runs: DryRunOutcome[];
  /** Runs beyond the maximum. */
  left: number;
}

export interface DryRunPorts {
  resources(namespace: string): PipelineResources;
  filters: FilterPorts;
  mutators: Pick<MutatorPorts, 'mutator' | 'variable' | 'libraries' | 'evaluate' | 'log'>;
  /** The assets and secrets of a resource that do not exist or are not installed. Nothing is downloaded. */
  missing(namespace: string, owner: string, resource: Handler | Mutator): Promise<string[]>;
  nowMs(): number;
  monotonicMs(): number;
}

/**
 * Finds out what would happen to each run of an event, without an effect: nothing is stored, no process is started and nothing is
 * sent. Filters and JavaScript mutators are evaluated in the sandbox.
 */
export async function dryRun(request: DryRunRequest, ports: DryRunPorts): Promise<DryRunResult> {
  const { namespace, event, named } = request;
  const nowMs = ports.nowMs();
  const resources = ports.resources(namespace);
  const input = filterInputOf(event);
  const planned = planRuns(named, input, { resources, nowMs });
  const redacted = redactEvent(event);
  const runs: DryRunOutcome[] = [];
  const untilMs = ports.monotonicMs() + MAX_EVALUATION_MS;
  const filters = new Map<string, FilterValues>();
  const isOver = (): boolean => filters.size >= MAX_FILTERS || ports.monotonicMs() > untilMs;
  const subject = {
    namespace,
    event: redacted,
    input,
    nowMs,
    resources,
    isOver,
    filters,
    mutators: new Map(),
  };
  for (const run of planned.slice(0, MAX_DRY_RUNS)) runs.push(await examine(run, subject, ports));
  const left = planned.slice(runs.length).reduce((count, { others = [] }) => count + 1 + others.length, 0);
  return { runs, left };
}

interface Subject {
  namespace: string;
  /** With its secrets redacted. */
  event: Event;
  input: FilterInput;
  nowMs: number;
  resources: PipelineResources;
  /** Whether nothing more may be evaluated. */
  isOver(): boolean;
  /** The values that were evaluated for earlier runs, by name. */
  filters: Map<string, FilterValues>;
  mutators: Map<string, ExaminedMutator>;
}

async function examine(run: PlannedRun, subject: Subject, ports: DryRunPorts): Promise<DryRunOutcome> {
  const { namespace, resources } = subject;
  const { pipeline, workflow, handler: name } = run;
  const handler = name === '' ? undefined : resources.handler(name);
  const filters = await examineFilters(run, subject, ports);
  const mutator = await examineMutator(run, handler, subject, ports);
  const missing = [
    ...(await missingOf(mutator.stored, `mutator "${mutator.shown.name}"`, namespace, ports)),
    ...(await missingOf(handler, `handler "${name}"`, namespace, ports)),
  ];
  const end = endOf(run, subject);
  const { outcome, reason } = end ?? mutator.end ?? endByMissing(missing) ?? PASSED;
  const target = handler && { type: handler.type ?? '', command: handler.command, socket: socketOf(handler) };
  return { pipeline, workflow, handler: name, outcome, reason, filters, mutator: mutator.shown, target, missing };
}

const PASSED: End = { outcome: 'would-run', reason: '' };

function endByMissing([first]: readonly string[]): End | undefined {
  return first === undefined ? undefined : { outcome: isUnknown(first) ? 'unknown' : 'skipped', reason: first };
}

/** How the run ends because of its plan, its filters or a missing handler. All its filters have been evaluated. */
function endOf(run: PlannedRun, { filters, resources }: Subject): End | undefined {
  if (run.outcome !== 'open') return { outcome: run.outcome, reason: run.reason };
  for (const name of run.filters) {
    const end = filters.get(name)?.end;
    if (end !== undefined) return end;
  }
  return resources.handler(run.handler) === undefined ? { outcome: 'skipped', reason: NO_HANDLER } : undefined;
}

async function examineFilters(run: PlannedRun, subject: Subject, ports: DryRunPorts): Promise<DryFilter[]> {
  const found: DryFilter[] = [];
  for (const name of run.namedFilters) {
    if (isBuiltInFilter(name)) {
      const note = denialBy(name, subject.input);
      found.push({
        name,
        isBuiltIn: true,
        passes: note === undefined,
        note: note ?? '',
        expressions: [],
        end: undefined,
      });
      continue;
    }
    const values =
      subject.filters.get(name) ?? (await valuesOf(name, subject.resources.filter(name), subject, ports.filters));
    subject.filters.set(name, values);
    found.push({ name, isBuiltIn: false, ...values });
  }
  return found;
}

interface ExaminedMutator {
  shown: DryRunOutcome['mutator'];
  stored: Mutator | undefined;
  end: End | undefined;
}

async function examineMutator(
  run: PlannedRun,
  handler: Handler | undefined,
  subject: Subject,
  ports: DryRunPorts,
): Promise<ExaminedMutator> {
  const name = (run.pipeline === undefined ? handler?.mutator : run.mutator) ?? 'json';
  const known = subject.mutators.get(name) ?? (await mutatorOf(name, subject, ports));
  subject.mutators.set(name, known);
  return known;
}

async function mutatorOf(name: string, subject: Subject, ports: DryRunPorts): Promise<ExaminedMutator> {
  const { namespace, event, nowMs } = subject;
  const stored = isBuiltInMutator(name) ? undefined : ports.mutators.mutator(namespace, name);
  const base = { name, isEvaluated: false, note: '', payload: undefined, bytes: undefined };
  if (stored !== undefined && stored.type !== 'javascript') {
    return { shown: { ...base, note: 'the command of a pipe mutator is not run' }, stored, end: undefined };
  }
  if (stored !== undefined && subject.isOver())
    return { shown: { ...base, note: NOT_EVALUATED }, stored, end: undefined };
  try {
    const { signal } = new AbortController();
    const payload = await mutate({ namespace, mutator: name, event, nowMs, signal }, withoutCommands(ports));
    const shown = payload.toString().slice(0, MAX_SHOWN_CHARACTERS);
    return {
      shown: { ...base, isEvaluated: true, payload: shown, bytes: Buffer.byteLength(payload) },
      stored,
      end: undefined,
    };
  } catch (error) {
    const end = endedBy(error);
    return { shown: { ...base, note: end.reason }, stored, end };
  }
}

/** The ports of mutators that start no process and need no environment. */
const withoutCommands = ({ mutators }: DryRunPorts): MutatorPorts => ({
  ...mutators,
  runLimitMs: 0,
  environment: () => Promise.reject(new Error('a dry run starts no command')),
  runCommand: () => Promise.reject(new Error('a dry run starts no command')),
});

/**
 * What the resource uses and is missing: socket handlers use neither assets nor secrets, and JavaScript mutators no
 * secrets.
 */
async function missingOf(
  resource: Handler | Mutator | undefined,
  owner: string,
  namespace: string,
  { missing }: DryRunPorts,
): Promise<string[]> {
  if (resource === undefined || resource.type === 'tcp' || resource.type === 'udp') return [];
  return missing(namespace, owner, resource.type === 'javascript' ? { ...resource, secrets: null } : resource);
}

const socketOf = ({ type, socket }: Handler): string | undefined =>
  type === 'tcp' || type === 'udp' ? `${socket?.host ?? ''}:${socket?.port ?? 0}` : undefined;

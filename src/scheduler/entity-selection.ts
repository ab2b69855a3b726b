import type { Log } from '../ports/log.ts';
import type { EntityConfig } from '../resources/entity.ts';
import { entityVariable } from '../resources/entity-data.ts';
import type { TaskOwner } from '../sandbox/fair-queue.ts';
import type { EvaluationResult, PredicateTask } from '../sandbox/messages.ts';
import { keyAfter } from '../store/encoding/keyspace.ts';
import type { Page, PageRequest } from '../store/page.ts';

/** The maximum number of entities that are evaluated together. */
const BATCH_ENTITIES = 50;
/** A batch with at least as many characters of JSON ends, so that it does not block the event loop. */
const BATCH_CHARACTERS = 1024 * 1024;
/** The number of entities that are read at once. Each may have 256 KiB of labels and annotations. */
const READ_ENTITIES = 5;
/** Limit of the CPU time of all expressions for one entity, ms. */
const LIMIT_MS = 50;
/** The selection ends after this many entities whose expressions were stopped. */
export const MAX_STOPPED = 3;

export interface Selection {
  /** Names of the selected entities, in order. */
  names: string[];
  /** The first reason why expressions were stopped. Those entities are not selected; after `MAX_STOPPED` of them the selection ends. */
  stopped: string | undefined;
  /** Names of the entities at which expressions were stopped in this selection. */
  stoppedEntities: string[];
  /** The number of entities for which the expressions ended by themselves. */
  decided: number;
  /** The first error that an expression threw. The entity is not selected. */
  firstError: string | undefined;
}

export interface EntitySelectionPorts {
  entities(namespace: string, page: PageRequest): Page<EntityConfig>;
  decide(task: PredicateTask, owner: TaskOwner): Promise<EvaluationResult[]>;
  nowMs(): number;
  log: Log;
}

/** The selection: the entities of the owner's namespace for which all programs are true. */
export interface SelectionRequest {
  owner: TaskOwner;
  programs: readonly string[];
  /** Entities that are left out, because the programs were stopped at them earlier. */
  leftOut: ReadonlySet<string>;
}

interface Batch {
  names: string[];
  /** The variables of the programs, as JSON. */
  values: string[];
  /** Undefined when there are no further entities. */
  next: string | undefined;
}

function readBatch(
  entities: EntitySelectionPorts['entities'],
  { owner: { namespace }, leftOut }: SelectionRequest,
  from: string,
): Batch {
  const batch: Batch = { names: [], values: [], next: from };
  let characters = 0;
  while (batch.next !== undefined && batch.names.length < BATCH_ENTITIES && characters < BATCH_CHARACTERS) {
    const { items, lastKey } = entities(namespace, { limit: READ_ENTITIES, from: batch.next });
    for (const config of items) {
      const { name = '' } = config.metadata;
      if (leftOut.has(name)) continue;
      const value = JSON.stringify(entityVariable(config));
      batch.names.push(name);
      batch.values.push(value);
      characters += value.length;
    }
    batch.next = lastKey === undefined ? undefined : keyAfter(lastKey);
  }
  return batch;
}

/** Returns the entities for which all programs hold, and none if there are no programs. @throws Overloaded */
export async function selectEntities(
  { entities, decide, nowMs, log }: EntitySelectionPorts,
  request: SelectionRequest,
): Promise<Selection> {
  const { owner, programs, leftOut } = request;
  const selection: Selection = {
    names: [],
    stopped: undefined,
    stoppedEntities: [],
    decided: 0,
    firstError: undefined,
  };
  if (programs.length === 0) return selection;
  const { stoppedEntities } = selection;
  for (let from: string | undefined = ''; from !== undefined && stoppedEntities.length < MAX_STOPPED;) {
    const { names, values, next } = readBatch(entities, request, from);
    const results = await decide({ programs, variable: 'entity', values, nowMs: nowMs(), limitMs: LIMIT_MS }, owner);
    for (const [index, name] of names.entries()) {
      const result = results[index];
      if (result !== undefined && result.type !== 'limit') selection.decided += 1;
      if (result?.type === 'holds') selection.names.push(name);
      else if (result?.type === 'error') {
        selection.firstError ??= `${name}: ${result.error}`;
        log.debug({ namespace: owner.namespace, entity: name, error: result.error }, 'expression threw');
      } else if (result?.type === 'limit') {
        selection.stopped ??= `${name}: ${result.error}`;
        if (stoppedEntities.length < MAX_STOPPED) stoppedEntities.push(name);
      }
    }
    from = next;
  }
  const [earlier] = leftOut;
  if (earlier !== undefined) selection.stopped ??= `${earlier}: stopped earlier`;
  return selection;
}

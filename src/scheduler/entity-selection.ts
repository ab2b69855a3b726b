import type { Log } from '../ports/log.ts';
import type { EntityConfig } from '../resources/entity.ts';
import { entityVariable } from '../resources/entity-data.ts';
import type { TaskOwner } from '../sandbox/fair-queue.ts';
import type { EvaluationResult, PredicateTask } from '../sandbox/messages.ts';
import type { Page, PageRequest } from '../store/page.ts';

/** Entities that are read and evaluated together. */
const PAGE_ENTITIES = 50;
/** Limit of the CPU time of all expressions for one entity, ms. */
const LIMIT_MS = 50;
/** The selection ends after this many entities whose expressions were stopped. */
export const MAX_STOPPED = 3;
/** A name followed by this character is the next possible key after the name. */
const NUL = '\0';

export interface Selection {
  /** Names of the selected entities, in order. */
  names: string[];
  /** The first reason why expressions were stopped. Those entities are not selected; after `MAX_STOPPED` of them the selection ends. */
  stopped: string | undefined;
  /** Names of the entities at which expressions were stopped in this selection. */
  stoppedEntities: string[];
  /** The first error that an expression threw. The entity is not selected. */
  firstError: string | undefined;
}

export interface EntitySelectionPorts {
  entities(namespace: string, page: PageRequest): Page<EntityConfig>;
  decide(task: PredicateTask, owner: TaskOwner): Promise<EvaluationResult[]>;
  nowMs(): number;
  log: Log;
}

/** What to select: the entities of the owner's namespace for which all programs hold. */
export interface SelectionRequest {
  owner: TaskOwner;
  programs: readonly string[];
  /** Entities that are left out, because the programs were stopped at them earlier. */
  leftOut: ReadonlySet<string>;
}

/** Returns the entities for which all programs hold, and none if there are no programs. @throws Overloaded */
export async function selectEntities(
  { entities, decide, nowMs, log }: EntitySelectionPorts,
  { owner, programs, leftOut }: SelectionRequest,
): Promise<Selection> {
  const { namespace } = owner;
  const selection: Selection = { names: [], stopped: undefined, stoppedEntities: [], firstError: undefined };
  if (programs.length === 0) return selection;
  const { stoppedEntities } = selection;
  for (let from: string | undefined = ''; from !== undefined && stoppedEntities.length < MAX_STOPPED;) {
    const { items: page, lastKey } = entities(namespace, { limit: PAGE_ENTITIES, from });
    const items = page.filter(({ metadata: { name = '' } }) => !leftOut.has(name));
    const values = items.map((config) => JSON.stringify(entityVariable(config)));
    const results = await decide({ programs, variable: 'entity', values, nowMs: nowMs(), limitMs: LIMIT_MS }, owner);
    for (const [index, { metadata }] of items.entries()) {
      const result = results[index];
      const name = metadata.name ?? '';
      if (result?.type === 'holds') selection.names.push(name);
      else if (result?.type === 'error') {
        selection.firstError ??= `${name}: ${result.error}`;
        log.debug({ namespace, entity: name, error: result.error }, 'expression threw');
      } else if (result?.type === 'limit') {
        selection.stopped ??= `${name}: ${result.error}`;
        if (stoppedEntities.length < MAX_STOPPED) stoppedEntities.push(name);
      }
    }
    from = lastKey === undefined ? undefined : lastKey + NUL;
  }
  const [earlier] = leftOut;
  if (earlier !== undefined) selection.stopped ??= `${earlier}: stopped earlier`;
  return selection;
}

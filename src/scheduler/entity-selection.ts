import type { Log } from '../ports/log.ts';
import type { EntityConfig } from '../resources/entity.ts';
import { entityVariable } from '../rules/entity-data.ts';
import type { EvaluationResult, PredicateTask } from '../sandbox/messages.ts';
import type { Page, PageRequest } from '../store/page.ts';

/** Entities that are read and evaluated together. */
const PAGE_ENTITIES = 50;
/** Limit of the CPU time of all expressions for one entity, ms. */
const LIMIT_MS = 50;
/** The selection ends after this many entities whose expressions were stopped. */
const MAX_STOPPED = 3;
/** A name followed by this character is the next possible key after the name. */
const NUL = '\0';

export interface Selection {
  /** Names of the selected entities, in order. */
  names: string[];
  /** The first reason why expressions were stopped. Those entities are not selected; after `MAX_STOPPED` of them the selection ends. */
  stopped: string | undefined;
  /** The first error that an expression threw. The entity is not selected. */
  firstError: string | undefined;
}

export interface EntitySelectionPorts {
  entities(namespace: string, page: PageRequest): Page<EntityConfig>;
  decide(task: PredicateTask): Promise<EvaluationResult[]>;
  nowMs(): number;
  log: Log;
}

/** Returns the entities of a namespace for which all expressions hold, and none if there are no expressions. @throws Overloaded */
export async function selectEntities(
  { entities, decide, nowMs, log }: EntitySelectionPorts,
  namespace: string,
  programs: readonly string[],
): Promise<Selection> {
  const selection: Selection = { names: [], stopped: undefined, firstError: undefined };
  if (programs.length === 0) return selection;
  let stops = 0;
  for (let from: string | undefined = ''; from !== undefined && stops < MAX_STOPPED;) {
    const { items, lastKey } = entities(namespace, { limit: PAGE_ENTITIES, from });
    const values = items.map((config) => JSON.stringify(entityVariable(config)));
    const results = await decide({ programs, variable: 'entity', values, nowMs: nowMs(), limitMs: LIMIT_MS });
    for (const [index, { metadata }] of items.entries()) {
      const result = results[index];
      const name = metadata.name ?? '';
      if (result?.type === 'holds') selection.names.push(name);
      else if (result?.type === 'error') {
        selection.firstError ??= `${name}: ${result.error}`;
        log.debug({ namespace, entity: name, error: result.error }, 'expression threw');
      } else if (result?.type === 'limit') {
        selection.stopped ??= `${name}: ${result.error}`;
        stops += 1;
      }
    }
    from = lastKey === undefined ? undefined : lastKey + NUL;
  }
  return selection;
}

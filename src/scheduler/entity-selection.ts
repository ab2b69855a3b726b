import type { Log } from '../ports/log.ts';
import type { EntityConfig } from '../resources/entity.ts';
import { entityVariable } from '../rules/entity-data.ts';
import type { EvaluationResult, PredicateTask } from '../sandbox/messages.ts';
import type { Page, PageRequest } from '../store/page.ts';

/** Entities that are read and evaluated at once. */
const PAGE_ENTITIES = 50;
/** CPU time of all expressions for one entity, ms. */
const LIMIT_MS = 50;
/** After so many entities at which an expression was stopped the others are not tried. */
const MAX_STOPPED = 3;
/** Directly after a name comes the name with it. */
const NUL = '\0';

export interface Selection {
  /** In order. */
  names: string[];
  /** Why expressions were stopped, where they were: those entities, and those after too many of them, are not selected. */
  stopped: string | undefined;
  /** The first of the errors that expressions threw: such an entity is not selected. */
  firstFault: string | undefined;
}

export interface EntitySelectionPorts {
  entities(namespace: string, page: PageRequest): Page<EntityConfig>;
  decide(task: PredicateTask): Promise<EvaluationResult[]>;
  nowMs(): number;
  log: Log;
}

/** The entities of a namespace for which all expressions hold; without expressions none. @throws Overloaded */
export async function selectEntities(
  { entities, decide, nowMs, log }: EntitySelectionPorts,
  namespace: string,
  programs: readonly string[],
): Promise<Selection> {
  const selection: Selection = { names: [], stopped: undefined, firstFault: undefined };
  if (programs.length === 0) return selection;
  let stops = 0;
  for (let from: string | undefined = ''; from !== undefined && stops < MAX_STOPPED;) {
    const { items, lastKey } = entities(namespace, { limit: PAGE_ENTITIES, from });
    const values = items.map((config) => JSON.stringify(entityVariable(config)));
    const verdicts = await decide({ programs, variable: 'entity', values, nowMs: nowMs(), limitMs: LIMIT_MS });
    for (const [index, { metadata }] of items.entries()) {
      const verdict = verdicts[index];
      const name = metadata.name ?? '';
      if (verdict?.type === 'holds') selection.names.push(name);
      else if (verdict?.type === 'error') {
        selection.firstFault ??= `${name}: ${verdict.error}`;
        log.debug({ namespace, entity: name, error: verdict.error }, 'expression threw');
      } else if (verdict?.type === 'limit') {
        selection.stopped ??= `${name}: ${verdict.error}`;
        stops += 1;
      }
    }
    from = lastKey === undefined ? undefined : lastKey + NUL;
  }
  return selection;
}

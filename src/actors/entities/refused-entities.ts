import { EntityRefused, InvalidResource } from '../../resources/errors.ts';
import { entityKey, refusedEntityKey } from '../../store/encoding/keyspace.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/** The maximum number of deleted entities of a namespace that are refused at a time; a further one is an error. */
const MAX_REFUSED_ENTITIES = 10_000;

interface RefusedEntity {
  /** Unix seconds; `null` until an API creates the entity. */
  untilS: number | null;
}

/** Refuses results and keepalives of an entity from now on. @throws InvalidResource when too many are refused */
export function refuseEntity(ctx: DecisionContext, namespace: string, name: string, untilS: number | null): void {
  let refused = 0;
  for (const key of ctx.decision.keys('resources', refusedEntityKey(namespace, ''))) {
    if (isOver(ctx, key)) ctx.delete('resources', key);
    else refused += 1;
  }
  if (refused >= MAX_REFUSED_ENTITIES) {
    throw new InvalidResource(`a namespace refuses at most ${MAX_REFUSED_ENTITIES} entities at a time`);
  }
  ctx.put('resources', refusedEntityKey(namespace, name), { untilS });
  ctx.reviseConfig('refused-entities', entityKey(namespace, name), 'created', []);
}

/** @throws EntityRefused */
export function assertNotRefused(ctx: DecisionContext, namespace: string, name: string): void {
  const key = refusedEntityKey(namespace, name);
  if (ctx.get('resources', key) === undefined) return;
  if (!isOver(ctx, key)) throw new EntityRefused(entityKey(namespace, name));
  ctx.delete('resources', key);
}

/** Allows results and keepalives to create the entity again. */
export function acceptEntity(ctx: DecisionContext, namespace: string, name: string): void {
  const key = refusedEntityKey(namespace, name);
  if (ctx.get('resources', key) === undefined) return;
  ctx.delete('resources', key);
  ctx.reviseConfig('refused-entities', entityKey(namespace, name), 'deleted', []);
}

function isOver(ctx: DecisionContext, key: string): boolean {
  const { untilS } = ctx.get('resources', key) as RefusedEntity;
  return untilS !== null && untilS <= ctx.nowS;
}

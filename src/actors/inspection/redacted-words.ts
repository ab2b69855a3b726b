import type { ActorAddress } from '../../resources/actor-address.ts';
import { readResource } from '../../store/resource-store.ts';
import type { TableReader } from '../../store/records/table-reader.ts';

/** The words that the entity of an actor redacts in addition to the default ones; undefined for actors without an entity. */
export function redactedWords(reader: TableReader, { actor, key }: ActorAddress): readonly string[] | undefined {
  if (actor !== 'entity' && actor !== 'check-ttl' && actor !== 'check-state') return undefined;
  const [namespace = '', name = ''] = key.split('/');
  return readResource(reader, 'entities', namespace, name)?.redact ?? undefined;
}

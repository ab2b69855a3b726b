import type { CheckEvent } from '../resources/event.ts';
import { isSilencedName, silencedName, type SilenceRecord } from '../resources/silenced.ts';
import { actsAt, silenceableOf, silencesOf } from '../rules/silencing.ts';
import { silenceCountKey } from './encoding/keyspace.ts';
import { readResource } from './resource-store.ts';
import type { TableReader } from './records/table-reader.ts';

export interface SilencesAt {
  /** Unix seconds. */
  nowS: number;
  /** Whether a silence on any subscription of the entity applies. */
  matchEntitySubscriptions: boolean;
}

/** Returns the silences of an event that are active now, by name. The stored names in the event are those of its last merge. */
export function actingSilences(
  reader: TableReader,
  event: CheckEvent,
  { nowS, matchEntitySubscriptions }: SilencesAt,
): SilenceRecord[] {
  const { namespace = '' } = event.entity.metadata;
  if (!hasSilences(reader, namespace)) return [];
  const lookUp = (silenced: string): SilenceRecord | undefined =>
    isSilencedName(silenced) ? readResource(reader, 'silenced', namespace, silenced) : undefined;
  return silencesOf(silenceableOf(event), lookUp, nowS, { matchEntitySubscriptions });
}

/** Returns the names of the silences of an event that are active now. */
export const actingSilenceNames = (reader: TableReader, event: CheckEvent, options: SilencesAt): string[] =>
  actingSilences(reader, event, options).map(silencedName);

/** Whether a silence on all checks of an entity is active. */
export function isEntitySilenced(reader: TableReader, namespace: string, entity: string, nowS: number): boolean {
  if (!hasSilences(reader, namespace)) return false;
  const silence = readResource(reader, 'silenced', namespace, `entity:${entity}:*`);
  return silence !== undefined && actsAt(silence, nowS);
}

/** Namespaces without entries are the usual case: their events need no lookup. */
function hasSilences(reader: TableReader, namespace: string): boolean {
  const stored = reader.get('resources', silenceCountKey(namespace)) as { count: number } | undefined;
  return (stored?.count ?? 0) > 0;
}

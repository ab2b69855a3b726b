import type { SilenceRecord } from '../../resources/silenced.ts';
import { stateName } from '../../machines/actor-snapshot.ts';
import type { EntityRecord, EventRecord } from '../records/records.ts';

/** The kinds of stored objects that are counted by group. */
export type CountedKind = 'entities' | 'events' | 'silences';

const STATUSES = ['passing', 'warning', 'critical'];
const OTHER_STATUS = 'unknown';
const CLASSES = new Set(['agent', 'proxy', 'backend', 'service']);
const OTHER_CLASS = 'other';

/** `<namespace>/<class>/<state>`: the state is that of the entity's state machine. Users may invent classes. */
export const entityGroup = (namespace: string, entityClass: string, { actor }: Pick<EntityRecord, 'actor'>): string =>
  `${namespace}/${CLASSES.has(entityClass) ? entityClass : OTHER_CLASS}/${stateName(actor.value)}`;

/** `<namespace>/<status>/<silenced>`, by the last result that was merged. */
export function eventGroup(namespace: string, { state }: Pick<EventRecord, 'state'>): string {
  const status = state.history.statuses.at(-1) ?? 0;
  return `${namespace}/${STATUSES[status] ?? OTHER_STATUS}/${state.silenced.length > 0}`;
}

/** `<namespace>/<state>` */
export const silenceGroup = ({ metadata, state }: Pick<SilenceRecord, 'metadata' | 'state'>): string =>
  `${metadata.namespace ?? ''}/${state}`;

/** How many stored objects each group has. The groups are bounded by the number of namespaces. */
export class GroupCounts {
  readonly #counts: Readonly<Record<CountedKind, Map<string, number>>> = {
    entities: new Map(),
    events: new Map(),
    silences: new Map(),
  };

  /** Moves an object from one group to another; undefined for one that is created or deleted. */
  move(kind: CountedKind, from: string | undefined, to: string | undefined): void {
    if (from === to) return;
    if (from !== undefined) this.#change(kind, from, -1);
    if (to !== undefined) this.#change(kind, to, 1);
  }

  add(other: GroupCounts): void {
    for (const kind of Object.keys(this.#counts) as CountedKind[]) {
      for (const [group, by] of other.of(kind)) this.#change(kind, group, by);
    }
  }

  of(kind: CountedKind): ReadonlyMap<string, number> {
    return this.#counts[kind];
  }

  #change(kind: CountedKind, group: string, by: number): void {
    const counts = this.#counts[kind];
    const count = (counts.get(group) ?? 0) + by;
    if (count === 0) counts.delete(group);
    else counts.set(group, count);
  }
}

import { type ActorKindName, sessionIdOf } from '../../resources/actor-address.ts';
import type { SilenceRecord } from '../../resources/silenced.ts';
import { afterPrefix } from '../../store/encoding/keyspace.ts';
import { stateName } from '../../machines/actor-snapshot.ts';
import type { Page, PageRequest } from '../../store/page.ts';
import type { RangeReader, TransactionalStore } from '../../store/commit/transactional-store.ts';
import { VisibleStore } from '../../store/visible-store.ts';
import { StateTimes } from './state-since.ts';

/** The maximum number of records read for one page. With a narrow filter a page may be short or empty without being the last. */
const MAX_RECORDS_READ = 5_000;
/** A character that sorts after every name. */
const END = '~';
const CHECKS = 'checks/';
const SILENCES = 'silenced/';
/** The prefix of an entity's own subscription. */
const ENTITY = 'entity:';

export interface ActorFilter {
  machine?: ActorKindName | undefined;
  /** `<namespace>/<name>` */
  entity?: string | undefined;
  /** The name of a check. */
  check?: string | undefined;
}

export interface ListedActor {
  session_id: string;
  machine: ActorKindName;
  key: string;
  /** The state of the actor. */
  value: string;
  /** The time of the transition to that state, Unix seconds; null if the ledger has no entry of it. */
  since: number | null;
}

/** An actor as read from a record. */
interface Found {
  key: string;
  /** Undefined if the record has no actor, or the actor belongs to another entity or check. */
  value: string | undefined;
}

type Source = (store: RangeReader, from: string, filter: ActorFilter) => Iterable<Found>;

/** Reads the records of each kind, in order of keys. */
const SOURCES: Record<ActorKindName, Source> = {
  *'check-schedule'(store, from, { entity, check }) {
    if (entity !== undefined) return;
    // A schedule has no record of its own. It exists while its check exists.
    for (const path of store.keys('resources', { from: CHECKS + from, to: afterPrefix(CHECKS) })) {
      const key = path.slice(CHECKS.length);
      yield { key, value: isOf(key, check) ? 'scheduled' : undefined };
    }
  },
  *'check-ttl'(store, from, { entity, check }) {
    for (const { key, value } of store.range('events', within(entity, from))) {
      yield { key, value: isOf(key, check) ? value.ttl && stateName(value.ttl.value) : undefined };
    }
  },
  *'check-state'(store, from, { entity, check }) {
    for (const { key, value } of store.range('events', within(entity, from))) {
      yield { key, value: isOf(key, check) ? value.state.state : undefined };
    }
  },
  *connection(store, from, { entity, check }) {
    if (check !== undefined) return;
    for (const { key, value } of store.range('sessions', { from, to: END })) {
      const isOther = entity !== undefined && entity !== `${value.namespace}/${value.agentName}`;
      yield { key, value: isOther ? undefined : stateName(value.actor.value) };
    }
  },
  *entity(store, from, { entity, check }) {
    if (check !== undefined) return;
    const range = entity === undefined ? { from, to: END } : { from: entity > from ? entity : from, to: `${entity}\0` };
    for (const { key, value } of store.range('entities', range)) yield { key, value: stateName(value.actor.value) };
  },
  *silence(store, from, { entity, check }) {
    const range = { from: SILENCES + from, to: afterPrefix(SILENCES) };
    for (const { key: path, value } of store.range('resources', range)) {
      const silence = value as SilenceRecord;
      const isOther =
        (entity !== undefined && entity !== entityOf(silence)) || (check !== undefined && silence.check !== check);
      yield { key: path.slice(SILENCES.length), value: isOther ? undefined : silence.state };
    }
  },
};

/** The `<namespace>/<name>` of the one entity that a silence names; undefined for any other silence. */
function entityOf({ metadata: { namespace = '' }, subscription = '' }: SilenceRecord): string | undefined {
  return subscription.startsWith(ENTITY) ? `${namespace}/${subscription.slice(ENTITY.length)}` : undefined;
}

const isOf = (key: string, check: string | undefined): boolean => check === undefined || key.endsWith(`/${check}`);

function within(entity: string | undefined, from: string) {
  if (entity === undefined) return { from, to: END };
  const prefix = `${entity}/`;
  return { from: prefix > from ? prefix : from, to: afterPrefix(prefix) };
}

/** Lists the keyed actors from the stored records, evicted or not, in order of session ids. */
export function listActors(
  store: TransactionalStore,
  filter: ActorFilter,
  { limit = Infinity, from = '' }: PageRequest,
): Page<ListedActor> {
  const visible = new VisibleStore(store);
  const times = new StateTimes(store);
  const items: ListedActor[] = [];
  let recordsRead = 0;
  let last: string | undefined;
  for (const machine of kindsFrom(filter.machine, from)) {
    const colon = `${machine}:`;
    const fromKey = from.startsWith(colon) ? from.slice(colon.length) : '';
    for (const { key, value } of SOURCES[machine](visible, fromKey, filter)) {
      if (items.length >= limit || recordsRead >= MAX_RECORDS_READ) return { items, lastKey: last };
      recordsRead += 1;
      last = sessionIdOf({ actor: machine, key });
      if (value === undefined) continue;
      const sinceMs = times.sinceMs({ actor: machine, key });
      const since = sinceMs === undefined ? null : Math.floor(sinceMs / 1_000);
      items.push({ session_id: last, machine, key, value, since });
    }
  }
  return { items, lastKey: undefined };
}

/** Yields the top-level state of each actor of a kind after a key, and of records without an actor undefined. */
export const statesOf = (store: RangeReader, machine: ActorKindName, from: string): Iterable<Found> =>
  SOURCES[machine](store, from, {});

/** Returns the kinds that can have session ids at or after `from`. */
function kindsFrom(machine: ActorKindName | undefined, from: string): ActorKindName[] {
  const kinds = (Object.keys(SOURCES) as ActorKindName[]).filter((kind) => machine === undefined || kind === machine);
  return kinds.filter((kind) => afterPrefix(`${kind}:`) > from).toSorted();
}

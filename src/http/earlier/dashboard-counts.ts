import { setImmediate as nextTick } from 'node:timers/promises';
import type { Aggregates } from '../../actors/aggregates/aggregates.ts';
import type { EntityStore } from '../../store/entity-store.ts';
import type { IncidentStore } from '../../store/incident-store.ts';
import { countKeys, pageOfKeys } from '../../store/key-pages.ts';
import { resourceKey } from '../../store/encoding/keyspace.ts';
import type { StashStore } from '../../store/stash-store.ts';
import type { RangeReader } from '../../store/commit/transactional-store.ts';
import { TimeSlices } from '../answer/time-slices.ts';
import type { Datacenter } from './datacenters.ts';
import type { EarlierView } from './earlier-view.ts';

export interface DashboardCountPorts {
  /** The durable, visible records. */
  store: RangeReader;
  entities: Pick<EntityStore, 'get'>;
  incidents: Pick<IncidentStore, 'list' | 'countInSteps'>;
  stashes: StashStore;
  aggregates: Pick<Aggregates, 'names'>;
  view: EarlierView;
}

export const DATACENTER_COUNTS = ['aggregates', 'checks', 'clients', 'events', 'silenced', 'stashes'] as const;
type Counted = (typeof DATACENTER_COUNTS)[number];

/** Objects by their status. Silenced ones are in no other count but the total. */
export interface StatusCounts {
  critical: number;
  healthy: number;
  silenced: number;
  total: number;
  unknown: number;
  warning: number;
}

/** Whether the client has disconnected. Then a count ends early, with any result. */
type IsDisconnected = () => boolean;

/** Counts the objects of the datacenters. It yields to other work, so that objects that change meanwhile may be missed. */
export class DashboardCounts {
  readonly #ports: DashboardCountPorts;

  constructor(ports: DashboardCountPorts) {
    this.#ports = ports;
  }

  async total(kind: Counted, namespace: string, isDisconnected: IsDisconnected): Promise<number> {
    const { store, incidents, stashes, aggregates } = this.#ports;
    await nextTick();
    if (kind === 'aggregates') return aggregates.names(namespace).length;
    if (kind === 'events') return incidents.countInSteps({ namespace }, isDisconnected);
    if (kind === 'stashes') return stashes.count(namespace);
    const prefix = resourceKey(kind === 'clients' ? 'entities' : kind, namespace, '');
    return countKeys(store, { table: 'resources', prefix, isDisconnected });
  }

  /** The subscriptions of the clients of a namespace, without those of one client. */
  async subscriptions(namespace: string, isDisconnected: IsDisconnected): Promise<string[]> {
    const names = new Set<string>();
    for await (const { subscriptions } of this.#clients(namespace, isDisconnected)) {
      for (const name of subscriptions) if (!/^(client|entity):/.test(name)) names.add(name);
    }
    return [...names].sort();
  }

  /** The counts of all datacenters together. */
  async metrics(
    datacenters: readonly Datacenter[],
    isDisconnected: IsDisconnected,
  ): Promise<Record<string, StatusCounts>> {
    const slices = new TimeSlices();
    const counts = Object.fromEntries(DATACENTER_COUNTS.map((kind) => [kind, none()])) as Record<Counted, StatusCounts>;
    for (const datacenter of datacenters) {
      if (isDisconnected()) break;
      const { namespace } = datacenter;
      for (const kind of ['aggregates', 'checks', 'silenced', 'stashes'] as const) {
        counts[kind].total += await this.total(kind, namespace, isDisconnected);
      }
      for await (const { isSilenced, status } of this.#clients(namespace, isDisconnected)) {
        add(counts.clients, isSilenced, status);
      }
      for (const open of this.#ports.incidents.list({ namespace })) {
        const { silenced } = this.#ports.view.event(datacenter, open);
        add(counts.events, silenced === true, open.event.check.status);
        await slices.pause();
        if (isDisconnected()) break;
      }
    }
    return { ...counts, datacenters: { ...none(), total: datacenters.length } };
  }

  async *#clients(
    namespace: string,
    isDisconnected: IsDisconnected,
  ): AsyncIterable<{ subscriptions: readonly string[]; isSilenced: boolean; status: number }> {
    const { store, entities, view } = this.#ports;
    const prefix = resourceKey('entities', namespace, '');
    const slices = new TimeSlices();
    for (const key of pageOfKeys(store, 'resources', prefix, { offset: 0, limit: Infinity })) {
      const entity = entities.get(namespace, key.slice(prefix.length));
      if (entity === undefined) continue;
      const { silenced, status } = view.client({ dc: '', namespace }, entity, true);
      yield {
        subscriptions: entity.subscriptions ?? [],
        isSilenced: silenced === true,
        status: Number(status),
      };
      await slices.pause();
      if (isDisconnected()) return;
    }
  }
}

const none = (): StatusCounts => ({ critical: 0, healthy: 0, silenced: 0, total: 0, unknown: 0, warning: 0 });

function add(counts: StatusCounts, isSilenced: boolean, status: number): void {
  counts.total += 1;
  if (isSilenced) counts.silenced += 1;
  else if (status === 0) counts.healthy += 1;
  else if (status === 1) counts.warning += 1;
  else if (status === 2) counts.critical += 1;
  else counts.unknown += 1;
}

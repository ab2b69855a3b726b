import type { Clock } from '../../ports/clock.ts';
import type { Check } from '../../resources/check.ts';
import type { Entity } from '../../resources/entity.ts';
import type { CheckEvent } from '../../resources/event.ts';
import { earlierCheck } from '../../rules/earlier-check.ts';
import { earlierClient, type KeepaliveThresholds, keepaliveThresholds } from '../../rules/earlier-client.ts';
import { earlierEvent } from '../../rules/earlier-event.ts';
import { earlierSilencedBy } from '../../rules/earlier-silence.ts';
import { actingSilenceNames, isEntitySilenced } from '../../store/acting-silences.ts';
import { readEntity } from '../../store/entity-store.ts';
import type { IncidentStore, OpenEvent } from '../../store/incident-store.ts';
import { afterPrefix, eventKey } from '../../store/encoding/keyspace.ts';
import { readResource } from '../../store/resource-store.ts';
import type { RangeReader } from '../../store/commit/transactional-store.ts';
import type { Datacenter } from './datacenters.ts';

export interface EarlierViewPorts {
  /** The durable, visible records. */
  reader: RangeReader;
  incidents: Pick<IncidentStore, 'list' | 'count'>;
  clock: Pick<Clock, 'nowMs'>;
  /** Whether a silence on any subscription of an entity applies to its events. */
  matchEntitySubscriptions: boolean;
  backendVersion: string;
}

const KEEPALIVE = 'keepalive';

interface EarlierResult {
  name: string;
  executed: number;
  status: number;
  history: number[];
}

/** The open events that the status of a client takes into account, so that one client takes no long time. */
const MAX_EVENTS_OF_CLIENT = 1_000;
const [WARNING, CRITICAL, UNKNOWN] = [1, 2, 3];

/** Shows records as the first generation does, with the silences that are active at the time of the request. */
export class EarlierView {
  readonly #ports: EarlierViewPorts;

  constructor(ports: EarlierViewPorts) {
    this.#ports = ports;
  }

  get nowS(): number {
    return Math.floor(this.#ports.clock.nowMs() / 1_000);
  }

  event({ dc, namespace }: Datacenter, open: OpenEvent): Record<string, unknown> {
    const { reader, matchEntitySubscriptions, backendVersion } = this.#ports;
    const { event } = open;
    const { nowS } = this;
    const entity = event.entity.metadata.name ?? '';
    return earlierEvent(open, {
      dc,
      silencedBy: actingSilenceNames(reader, event, { nowS, matchEntitySubscriptions }),
      isClientSilenced: isEntitySilenced(reader, namespace, entity, nowS),
      definition: this.#definition(namespace, event),
      entity: readEntity(reader, namespace, entity),
      thresholds: this.#thresholdsOf(namespace, entity),
      backendVersion,
    });
  }

  result({ dc, namespace }: Datacenter, event: CheckEvent): Record<string, unknown> {
    const { check, entity } = event;
    const client = entity.metadata.name ?? '';
    const definition = this.#definition(namespace, event);
    return {
      _id: `${dc}/${client}/${check.metadata.name ?? ''}`,
      dc,
      client,
      check: earlierCheck(check, { client, definition, isTtlExpired: false, as: 'result' }),
    };
  }

  /** The last results of a check of a client. */
  history(datacenter: Datacenter, event: CheckEvent): Record<string, unknown> {
    const { dc, check, client } = this.result(datacenter, event) as {
      dc: string;
      client: string;
      check: EarlierResult;
    };
    const { history, ...last_result } = check;
    const { nowS } = this;
    const { reader, matchEntitySubscriptions } = this.#ports;
    const silencedBy = actingSilenceNames(reader, event, { nowS, matchEntitySubscriptions });
    return {
      dc,
      client,
      check: check.name,
      history,
      last_execution: check.executed,
      last_status: check.status,
      last_result,
      silenced: silencedBy.length > 0,
      silenced_by: earlierSilencedBy(silencedBy),
    };
  }

  /** An entity, with the state that its open events give it where the caller may read events. */
  client({ dc, namespace }: Datacenter, entity: Entity, mayReadEvents: boolean): Record<string, unknown> {
    const { reader, backendVersion } = this.#ports;
    const { name = '' } = entity.metadata;
    const isSilenced = isEntitySilenced(reader, namespace, name, this.nowS);
    const timestampS = entity.last_seen > 0 ? 0 : this.#timeOf(namespace, name);
    const thresholds = this.#thresholdsOf(namespace, name);
    const shown = earlierClient(entity, { isSilenced, backendVersion, timestampS, thresholds });
    const state = mayReadEvents ? this.#stateOf(namespace, name) : undefined;
    return { _id: `${dc}/${name}`, dc, ...shown, ...state };
  }

  /** The time of the first event of an entity without keepalives; 0 when it has none. */
  #timeOf(namespace: string, entity: string): number {
    const { reader } = this.#ports;
    const prefix = `${namespace}/${entity}/`;
    const [key] = reader.keys('events', { from: prefix, to: afterPrefix(prefix), limit: 1 });
    return key === undefined ? 0 : (reader.get('events', key)?.event.timestamp ?? 0);
  }

  /** The timeouts of the last keepalive, in seconds; undefined for an entity without keepalives. */
  #thresholdsOf(namespace: string, entity: string): KeepaliveThresholds | undefined {
    const check = this.#ports.reader.get('events', eventKey(namespace, entity, KEEPALIVE))?.event.check;
    return check && keepaliveThresholds(check);
  }

  #definition(namespace: string, { check }: CheckEvent): Check | undefined {
    return readResource(this.#ports.reader, 'checks', namespace, check.metadata.name ?? '');
  }

  #stateOf(namespace: string, entity: string): { status: number; output?: string } {
    const { incidents } = this.#ports;
    let first: string | undefined;
    let status = UNKNOWN;
    for (const { event } of incidents.list({ namespace, entity }, { limit: MAX_EVENTS_OF_CLIENT })) {
      const { check } = event;
      first ??= check.output;
      if (check.status === CRITICAL) {
        status = CRITICAL;
        break;
      }
      if (check.status === WARNING) status = WARNING;
    }
    if (first === undefined) return { status: 0 };
    const others = incidents.count({ namespace, entity }) - 1;
    return { status, output: others < 1 ? first : `${first} and ${others} more...` };
  }
}

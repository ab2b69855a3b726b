import { setImmediate as nextTick } from 'node:timers/promises';
import type { StateValue } from 'xstate';
import { stateName } from '../../machines/actor-snapshot.ts';
import type { RangeReader, TransactionalStore } from '../../store/commit/transactional-store.ts';
import { IncidentStore } from '../../store/incident-store.ts';
import type { ResourceStore } from '../../store/resource-store.ts';
import { afterPrefix, keyAfter } from '../../store/encoding/keyspace.ts';
import { VisibleStore } from '../../store/visible-store.ts';
import { type IsDisconnected, SharedRun } from './shared-run.ts';

/** The number of records in one step. Other work is done between two steps. */
const STEP_RECORDS = 64;
const CRITICAL = 2;
const WARNING = 1;

/** The open events of a namespace, silenced ones included. */
export interface ProblemCounts {
  critical: number;
  warning: number;
  unknown: number;
  /** Those that flap and have passed last. */
  flapping: number;
}

export interface NamespaceCount {
  name: string;
  problems: ProblemCounts;
  /** How many entities that sent keepalives are in each state; a state without one is absent. */
  agents: Record<string, number>;
}

/** Counts the problems and the agents of every namespace. Requests at the same time share one count. */
export class NamespaceCounts {
  readonly #resources: Pick<ResourceStore, 'list'>;
  readonly #visible: RangeReader;
  readonly #incidents: IncidentStore;
  readonly #run = new SharedRun((isWanted) => this.#counted(isWanted));

  constructor(store: TransactionalStore, resources: Pick<ResourceStore, 'list'>) {
    this.#resources = resources;
    this.#visible = new VisibleStore(store);
    this.#incidents = new IncidentStore(store);
  }

  /** Resolves with a count that began after the call, by the names of namespaces. It ends early when all of its callers have left. */
  count(isDisconnected: IsDisconnected): Promise<NamespaceCount[]> {
    return this.#run.result(isDisconnected);
  }

  async #counted(isWanted: () => boolean): Promise<NamespaceCount[]> {
    const counts: NamespaceCount[] = [];
    for (const { name } of this.#resources.list('namespaces').items) {
      if (!isWanted()) break;
      const problems = await this.#problemsIn(name, isWanted);
      counts.push({ name, problems, agents: await this.#agentsIn(name, isWanted) });
    }
    return counts;
  }

  async #problemsIn(namespace: string, isWanted: () => boolean): Promise<ProblemCounts> {
    const counts: ProblemCounts = { critical: 0, warning: 0, unknown: 0, flapping: 0 };
    let read = 0;
    for (const { event } of this.#incidents.list({ namespace })) {
      counts[nameOf(event.check.status)] += 1;
      read += 1;
      if (read % STEP_RECORDS > 0) continue;
      await nextTick();
      if (!isWanted()) break;
    }
    return counts;
  }

  async #agentsIn(namespace: string, isWanted: () => boolean): Promise<Record<string, number>> {
    const agents = new Map<string, number>();
    const to = afterPrefix(`${namespace}/`);
    for (let from: string | undefined = `${namespace}/`; from !== undefined && isWanted();) {
      let last: string | undefined;
      for (const { key, value } of this.#visible.range('entities', { from, to, limit: STEP_RECORDS })) {
        last = key;
        if (isUnmonitored(value.actor.value)) continue;
        const state = stateName(value.actor.value);
        agents.set(state, (agents.get(state) ?? 0) + 1);
      }
      from = last === undefined ? undefined : keyAfter(last);
      if (from !== undefined) await nextTick();
    }
    return Object.fromEntries(agents);
  }
}

/** Whether no keepalive is expected of an entity. */
const isUnmonitored = (state: StateValue): boolean =>
  typeof state !== 'string' && state['registered'] === 'unmonitored';

function nameOf(status: number): keyof ProblemCounts {
  if (status === 0) return 'flapping';
  return status === CRITICAL ? 'critical' : status === WARNING ? 'warning' : 'unknown';
}

import { SCHEDULE_KINDS } from '../../actors/schedules/schedule-counts.ts';
import type { BackendStats } from './backend-stats.ts';
import { boundedSeries } from './bounded-series.ts';
import type { Families, Sample } from './families.ts';

/** The families of the reference that its dashboards read, without those that would have no meaning here. */
export function addEventFamilies(families: Families, read: () => BackendStats): void {
  families.counters('sensu_go_events_processed', 'Events that were processed', ['status', 'type'], () => {
    const { stored, lost } = read().system.commits;
    return [
      [stored.checkEvents, { status: 'success', type: 'check' }],
      [stored.metricEvents, { status: 'success', type: 'metrics' }],
      [lost.checkEvents, { status: 'error', type: 'check' }],
      [lost.metricEvents, { status: 'error', type: 'metrics' }],
    ];
  });
  families.counter(
    'sensu_go_event_metric_points_processed',
    'Metric points in the events that were processed',
    () => read().system.commits.stored.metricPoints,
  );
  families.counters('sensu_go_keepalives', 'Keepalives that were received, and that were missed', ['status'], () => {
    const { keepalives, missedKeepalives } = read().system.commits.stored;
    return [
      [keepalives, { status: 'alive' }],
      [missedKeepalives, { status: 'dead' }],
    ];
  });
  addHandlerFamilies(families, read);
  addSessionFamilies(families, read);
  for (const kind of SCHEDULE_KINDS) {
    const words = kind.replaceAll('_', ' ');
    families.gauges(`sensu_go_${kind}_schedulers`, `Checks that are scheduled by ${words}`, ['namespace'], () =>
      byNamespace(read().system.schedules[kind], read().namespaces),
    );
  }
}

function addHandlerFamilies(families: Families, read: () => BackendStats): void {
  const type = 'core/v2.Handler';
  families.counters('sensu_go_handler_requests', 'Handlers that ran', ['status', 'type'], () => {
    const { handled, failed } = read().pipeline.runs;
    return [
      [handled, { status: '0', type }],
      [failed, { status: '1', type }],
    ];
  });
  families.counter('sensu_go_handler_requests_total', 'Handlers that ran, with any result', () => {
    const { handled, failed } = read().pipeline.runs;
    return handled + failed;
  });
  families.counter(
    'mon_outbox_damaged_total',
    'Entries of the outbox that were damaged and not handled; the directory quarantine of the state directory has them',
    () => read().quarantine.found,
  );
  families.gauge('sensu_go_event_handlers_busy', 'Handlers that are running', () => read().pipeline.running.used);
}

function addSessionFamilies(families: Families, read: () => BackendStats): void {
  families.gauges('sensu_go_agent_sessions', 'Open sessions of agents', ['namespace'], () =>
    byNamespace(read().sessions.sessions, read().namespaces),
  );
  families.counters('sensu_go_session_errors', 'Sessions that ended with an error', ['error'], () =>
    Object.entries(read().agents.counts.errors).map(([error, count]) => [count, { error }]),
  );
  families.counters('sensu_go_websocket_errors', 'Reads and writes of sockets that failed', ['op', 'error'], () => {
    const { reads, writes } = read().agents.counts;
    return [...operation('recv', reads), ...operation('send', writes)];
  });
}

const operation = (op: string, counts: ReadonlyMap<string, number>): Sample<'op' | 'error'>[] =>
  [...counts].map(([error, count]) => [count, { op, error }]);

function byNamespace(counts: ReadonlyMap<string, number>, namespaces: readonly string[]): Sample<'namespace'>[] {
  const all = new Map<string, number>(namespaces.map((namespace) => [namespace, 0]));
  for (const [namespace, count] of counts) all.set(namespace, count);
  return boundedSeries(all).map(([namespace, count]) => [count, { namespace }]);
}

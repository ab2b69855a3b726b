import type { QueueStats } from '../../ports/queue-stats.ts';
import type { BackendStats } from './backend-stats.ts';
import type { Families, Sample } from './families.ts';

type Named = Readonly<Record<string, QueueStats>>;

/** The queues, each with its length and its limit. */
const queuesOf = ({
  system,
  pipeline,
  assets,
  proxyRuns,
  sandbox,
  eventLog,
  auth,
  sessions,
  agents,
  connections,
}: BackendStats): Named => ({
  open_decisions: system.openDecisions,
  outbox: pipeline.outbox,
  outbox_bytes: pipeline.outboxBytes,
  running_handlers: pipeline.running,
  expected_results: system.expectedResults,
  running_asset_fetches: assets.running,
  waiting_asset_fetches: assets.waiting,
  proxy_runs: proxyRuns.running,
  expressions: sandbox.waiting,
  api_connections: connections.api,
  agent_connections: connections.agents,
  agent_check_requests: sessions.maxCheckRequests,
  agent_request_bytes: sessions.maxCheckRequestBytes,
  agent_held_messages: sessions.maxHeldFrames,
  agent_handshakes: agents.waiting.handshakes,
  ended_connections: agents.waiting.ends,
  unstored_ends: { used: system.pendingConnections, limit: agents.waiting.ends.limit },
  waiting_logins: auth.credentials.waiting,
  running_logins: auth.credentials.running,
  tickets: auth.tickets.unused,
  notification_bytes: system.notifications.notificationBytes,
  aggregates: system.aggregates.aggregates,
  aggregate_members: system.aggregates.members,
  dead_letters: system.notifications.deadLetters,
  dead_letter_bytes: system.notifications.deadLetterBytes,
  ...(eventLog === undefined ? {} : { event_log: eventLog }),
});

/** The caches, each with its size and its limit. */
const cachesOf = ({ system, assets, auth, agents, store }: BackendStats): Named => ({
  awake_actors: system.awakeSleepers,
  events: system.keptEvents,
  failed_assets: assets.failures,
  selected_assets: assets.selections,
  credentials: auth.credentials.remembered,
  access_tokens: auth.tokens.remembered,
  guessed_accounts: auth.throttle.accounts,
  guessing_addresses: auth.throttle.addresses,
  login_addresses: auth.throttle.logins,
  refused_messages: agents.refusedFrames.remembered,
  refused_handshakes: agents.refusedHandshakes.remembered,
  dropped_events: system.droppedEvents,
  measured_entities: system.measuredEntities,
  counted_agents: system.countedAgents,
  ...(store === undefined ? {} : { resources: store.cachedResources }),
});

/** Everything that grows, with its limit; docs/operate.md lists them. */
export function addBoundFamilies(families: Families, read: () => BackendStats): void {
  const queues = (value: keyof QueueStats) => () => samples('queue', queuesOf(read()), value);
  const caches = (value: keyof QueueStats) => () => samples('cache', cachesOf(read()), value);
  families.gauges('mon_queue_depth', 'Entries that wait in the queue', ['queue'], queues('used'));
  families.gauges('mon_queue_limit', 'Limit of the queue', ['queue'], queues('limit'));
  families.counters('mon_queue_dropped_total', 'Entries that were dropped at the limit', ['queue'], queues('dropped'));
  families.counters('mon_queue_refused_total', 'Entries that were refused at the limit', ['queue'], queues('refused'));
  families.gauges('mon_cache_entries', 'Entries in the cache', ['cache'], caches('used'));
  families.gauges('mon_cache_limit', 'Limit of the cache', ['cache'], caches('limit'));
  families.counter(
    'mon_changes_refused_total',
    'Changes that were answered 503 because the open decisions or the outbox were full',
    () => read().system.refused,
  );
  families.counters(
    'mon_results_refused_total',
    'Results that were refused because their entity has too many checks or bytes',
    ['limit'],
    () => Object.entries(read().system.refusedResults).map(([limit, count]): Sample<'limit'> => [count, { limit }]),
  );
  families.counter(
    'mon_logins_refused_total',
    'Logins that were answered 429 and not tried, because too many failed before them',
    () => read().auth.throttle.refused,
  );
  families.gauge('mon_paused_sessions', 'Sessions of agents whose reader is paused', () => read().sessions.paused);
  families.gauge(
    'mon_outgoing_frames',
    'Frames that wait to be written to agents, over all sessions',
    () => read().sessions.outgoingFrames,
  );
  families.gauge(
    'mon_held_messages',
    'Messages of agents that wait to be decided, over all sessions',
    () => read().sessions.heldFrames,
  );
}

/** The samples of the queues or caches that report the value. */
function samples<L extends string>(label: L, named: Named, value: keyof QueueStats): Sample<L>[] {
  return Object.entries(named).flatMap(([name, queueStats]) => {
    const count = queueStats[value];
    return count === undefined ? [] : [[count, { [label]: name } as Record<L, string>] as const];
  });
}

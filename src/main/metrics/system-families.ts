import type { BackendStats } from './backend-stats.ts';
import type { Families, Sample } from './families.ts';

const seconds = (ms: number): number => ms / 1_000;

/** Actors, commits, the store, and refused messages and handshakes of agents. */
export function addSystemFamilies(families: Families, read: () => BackendStats): void {
  addActorFamilies(families, read);
  addCommitFamilies(families, read);
  addStoreFamilies(families, read);
  addMemoryFamilies(families, read);
  addSandboxFamilies(families, read);
  families.counter(
    'mon_messages_refused_total',
    'Messages of agents that were refused',
    () => read().agents.refusedFrames.total,
  );
  families.counters('mon_handshakes_refused_total', 'Handshakes of agents that were refused', ['status'], () =>
    [...read().agents.refusedHandshakes.byStatus].map(([status, count]) => [count, { status: String(status) }]),
  );
  families.counters(
    'mon_legacy_api_requests_total',
    'Answered requests of the API of the first generation, by port (core or dashboard), route and status',
    ['port', 'route', 'status'],
    () =>
      [...read().earlierRequests.all()].map(({ port, route, status, count }) => [
        count,
        { port, route, status: String(status) },
      ]),
  );
}

function addActorFamilies(families: Families, read: () => BackendStats): void {
  const perActor = (of: (stats: BackendStats['system']) => Readonly<Record<string, number>>) => () =>
    Object.entries(of(read().system)).map(([actor, count]): Sample<'actor'> => [count, { actor }]);
  families.gauges(
    'mon_awake_actors',
    'State machines in memory',
    ['actor'],
    perActor(({ awake }) => awake),
  );
  families.gauges(
    'mon_armed_deadlines',
    'Deadlines that are armed',
    ['actor'],
    perActor(({ armed }) => Object.fromEntries(armed)),
  );
  families.gauges(
    'mon_quarantined_actors',
    'State machines in quarantine after repeated failures',
    ['actor'],
    perActor(({ quarantined }) => quarantined),
  );
  families.counters(
    'mon_actor_failures_total',
    'Failures of state machines',
    ['actor'],
    perActor(({ failures }) => failures),
  );
  families.counters('mon_ticks_total', 'Ticks of checks by outcome: ran, skipped or lost', ['outcome'], () =>
    Object.entries(read().system.ticks).map(([outcome, count]): Sample<'outcome'> => [count, { outcome }]),
  );
  families.counter(
    'mon_unanswered_requests_total',
    'Check requests of schedules whose result did not arrive in time',
    () => read().system.unansweredRequests,
  );
  families.counter('mon_blind_seconds_total', 'Blind time since the start', () => seconds(read().system.blindMs));
}

function addCommitFamilies(families: Families, read: () => BackendStats): void {
  const commits = () => read().system.commits;
  families.counter('mon_commits_total', 'Transactions that became durable', () => commits().commits);
  families.counter('mon_commit_failures_total', 'Transactions that failed', () => commits().failures);
  families.counter('mon_commit_decisions_total', 'Decisions that became durable', () => commits().decisions);
  families.counter('mon_commit_seconds_total', 'Time that durable transactions took', () =>
    seconds(commits().durationMs),
  );
  families.gauge('mon_ledger_seq', 'Number of the last durable entry of the ledger', () => read().system.ledgerSeq);
}

function addStoreFamilies(families: Families, read: () => BackendStats): void {
  const size = (of: (store: NonNullable<BackendStats['store']>) => number) => (): Sample<never>[] => {
    const { store } = read();
    return store === undefined ? [] : [[of(store), {}]];
  };
  families.gauges(
    'mon_store_bytes',
    'Size of the store on disk; it never shrinks',
    [],
    size(({ bytes }) => bytes),
  );
  families.gauges(
    'mon_store_used_bytes',
    'Part of the store that holds data',
    [],
    size(({ usedBytes }) => usedBytes),
  );
  families.gauges(
    'mon_store_free_pages',
    'Free pages of the store',
    [],
    size(({ freePages }) => freePages),
  );
  const disk = (of: (use: BackendStats['disk']) => number | undefined) => (): Sample<string>[] => {
    const value = of(read().disk);
    return value === undefined ? [] : [[value, {}]];
  };
  families.gauges(
    'mon_store_quota_bytes',
    'Size of the store at which changes are refused; absent without a quota',
    [],
    disk(({ quotaBytes }) => quotaBytes || undefined),
  );
  families.gauges(
    'mon_store_disk_free_bytes',
    'Free space of the disk of the store',
    [],
    disk(({ freeDiskBytes }) => freeDiskBytes),
  );
  families.gauges(
    'mon_store_days_left',
    'Days until the store reaches its quota or fills the disk, as it grew in the last week; absent while it does not grow',
    [],
    disk(({ daysLeft }) => daysLeft),
  );
}

function addMemoryFamilies(families: Families, read: () => BackendStats): void {
  const amounts = (of: 'usedBytes' | 'limitBytes') => (): Sample<'of'>[] =>
    Object.entries(read().memory ?? {}).map(([name, amount]) => [amount[of], { of: name }]);
  families.gauges(
    'mon_memory_used_bytes',
    'Memory in use: the heap of JavaScript, and the process without the mapped pages of the store',
    ['of'],
    amounts('usedBytes'),
  );
  families.gauges(
    'mon_memory_limit_bytes',
    'Memory that may be in use; at nine tenths changes and new agents are refused',
    ['of'],
    amounts('limitBytes'),
  );
  families.gauge('mon_memory_full', '1 while changes and new agents are refused to save memory, else 0', () =>
    Number(read().isMemoryFull),
  );
}

function addSandboxFamilies(families: Families, read: () => BackendStats): void {
  const counts = () => read().sandbox.counts;
  families.counter(
    'mon_sandbox_evaluations_total',
    'Tasks of JavaScript that ended: filters of an event, mutators, expressions of a check',
    () => counts().evaluations,
  );
  families.counter(
    'mon_sandbox_stopped_total',
    'Programs of JavaScript that were stopped at a limit of time, memory or stack',
    () => counts().stopped,
  );
  families.counter(
    'mon_sandbox_threads_ended_total',
    'Threads of JavaScript that ended, mostly because a program did not stop, and were replaced',
    () => counts().threadsEnded,
  );
  families.gauge('mon_sandbox_threads', 'Threads that run JavaScript', () => read().sandbox.threads);
}

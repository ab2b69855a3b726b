import type { CountedKind } from '../../store/commit/object-groups.ts';
import type { NotificationCounts } from '../../store/commit/notification-counts.ts';
import type { BackendStats } from './backend-stats.ts';
import { OTHERS } from './bounded-series.ts';
import { boundedGroups } from './bounded-groups.ts';
import type { Families, Sample } from './families.ts';

/** The monitored installation: entities, events and silences, counted as they change and not read at the scrape. */
export function addWorldFamilies(families: Families, read: () => BackendStats): void {
  const groups = <L extends string>(kind: CountedKind, labels: readonly ['namespace', ...L[]]) =>
    function samples(): Sample<'namespace' | L>[] {
      return boundedGroups(read().system.commits.stored.groups.of(kind), labels);
    };
  families.gauges(
    'mon_entities',
    'Entities by class and by the state of their keepalives: registered (none is missing, or none is expected), warning or critical',
    ['namespace', 'class', 'state'],
    groups('entities', ['namespace', 'class', 'state']),
  );
  families.gauges(
    'mon_events',
    'Events by the status of their last result: passing (0), warning (1), critical (2) or unknown (any other), and whether a silence applied to that result',
    ['namespace', 'status', 'silenced'],
    groups('events', ['namespace', 'status', 'silenced']),
  );
  families.gauges(
    'mon_silences',
    'Silences by state: active, or pending until they start. Silences that have ended are deleted',
    ['namespace', 'state'],
    groups('silences', ['namespace', 'state']),
  );
  families.counters(
    'mon_notifications_total',
    'Outcomes of handlers with events since the start: handled, failed, timed-out, denied by a filter, or skipped with a reason on record. Handlers beyond the first ones are summed under *',
    ['namespace', 'handler', 'outcome'],
    () => notificationSamples(read().system.commits.notifications),
  );
}

function* notificationSamples({
  counts,
  others,
}: NotificationCounts): Iterable<Sample<'namespace' | 'handler' | 'outcome'>> {
  for (const [name, count] of counts) {
    // The names of pipelines contain slashes.
    const [first, last] = [name.indexOf('/'), name.lastIndexOf('/')];
    const handler = name.slice(first + 1, last);
    yield [count, { namespace: name.slice(0, first), handler, outcome: name.slice(last + 1) }];
  }
  if (others > 0) yield [others, { namespace: OTHERS, handler: OTHERS, outcome: OTHERS }];
}

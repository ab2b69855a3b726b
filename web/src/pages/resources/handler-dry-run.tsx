import { at, list, MON } from '../../api/client.ts';
import { useLoaded } from '../../state/resource.ts';
import { DryRun } from '../event/dry-run.tsx';
import type { EventRow } from '../events/event-row.ts';
import { isProblem } from '../events/event-row.ts';

/** Events that are offered. */
const LIMIT = 200;

interface HandlerDryRunProps {
  namespace: string;
  kind: 'handlers' | 'pipelines';
  name: string;
}

/** What a handler or a pipeline would do with an event of the namespace; problems are offered first. */
export function HandlerDryRun({ namespace, kind, name }: HandlerDryRunProps) {
  const { state } = useLoaded(`events for a dry run in ${namespace}`, (signal) =>
    list<EventRow>(`${MON}${at`/namespaces/${namespace}/event-summaries`}`, { signal, query: { limit: LIMIT } }),
  );
  const rows = (state.value.data?.items ?? []).toSorted(
    (one, other) => Number(isProblem(other)) - Number(isProblem(one)),
  );
  const only = kind === 'handlers' ? { handlers: [name] } : { pipelines: [name] };
  return <DryRun namespace={namespace} events={rows} only={only} />;
}

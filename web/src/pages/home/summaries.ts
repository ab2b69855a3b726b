import { get, MON } from '../../api/client.ts';
import { useLoaded } from '../../state/resource.ts';

/** The problems and agents of a namespace; null for what the user may not list. */
export interface NamespaceSummary {
  name: string;
  problems: { critical: number; warning: number; unknown: number; flapping: number } | null;
  agents: Readonly<Record<string, number>> | null;
}

const CHANGED: ReadonlySet<string> = new Set(['check-state', 'entity', 'entities', 'namespaces']);

export const useSummaries = () =>
  useLoaded('namespaces', (signal) => get<NamespaceSummary[]>(`${MON}/namespace-summaries`, { signal }), {
    when: ({ kind }) => CHANGED.has(kind),
    atMostEveryMs: 1_000,
    everyMs: 15_000,
  });

import { useEffect, useState } from 'preact/hooks';
import { listen } from '../live/feed.ts';
import { useLoaded } from '../state/resource.ts';
import { type ActorDetail, readActor, readLastEntries } from './actor-api.ts';
import type { Chart } from './chart.ts';
import { activeStates, type Step, takenBy } from './chart-states.ts';
import type { LedgerEntry } from './replay.ts';

/** Deadlines move and nested states change without an entry in the ledger. */
const READ_EVERY_MS = 3_000;
/** How long after a deadline its effect can be read. */
const AFTER_DEADLINE_MS = 250;

interface LiveStep extends Step {
  seq: number;
}

export interface LiveActor {
  detail: ActorDetail | undefined;
  error: string | undefined;
  /** Newest first. */
  entries: readonly LedgerEntry[] | undefined;
  entriesError: string | undefined;
  active: ReadonlySet<string>;
  taken: ReadonlySet<string>;
  /** The number of the last transition. */
  seq: number | undefined;
}

/** An actor that follows the live feed: its new state is shown at once, and its data when it has been read. */
export function useActor(chart: Chart, key: string): LiveActor {
  const sessionId = `${chart.machine}:${key}`;
  const isOwn = (change: { kind: string; key: string }): boolean => change.kind === chart.machine && change.key === key;
  const detailLoader = useLoaded(`detail ${sessionId}`, (signal) => readActor(sessionId, signal), {
    when: isOwn,
    everyMs: READ_EVERY_MS,
  });
  const ledgerLoader = useLoaded(`ledger ${sessionId}`, (signal) => readLastEntries(sessionId, signal), {
    when: isOwn,
  });
  const deadlineAtMs = detailLoader.state.value.data?.deadline_at_ms ?? undefined;
  useEffect(() => {
    const inMs = (deadlineAtMs ?? Infinity) - Date.now() + AFTER_DEADLINE_MS;
    if (inMs < 0 || inMs > READ_EVERY_MS) return undefined;
    const timer = setTimeout(detailLoader.reload, inMs);
    return () => clearTimeout(timer);
  }, [deadlineAtMs, detailLoader.state.value.data]);
  const [step, setStep] = useState<LiveStep | undefined>(undefined);
  useEffect(
    () =>
      listen({
        changed: (changes) => {
          const last = changes.findLast(isOwn);
          if (last !== undefined) setStep({ ...last, from: textOf(last.from), to: textOf(last.to) });
        },
      }),
    [sessionId],
  );
  const { data: detail, error } = detailLoader.state.value;
  const { data: entries, error: entriesError } = ledgerLoader.state.value;
  const isNewer = step !== undefined && step.seq > (detail?.seq ?? 0);
  const [entry] = entries ?? [];
  const last = step !== undefined && step.seq > (entry?.seq ?? 0) ? step : entry;
  return {
    detail,
    error: detail === undefined || isNewer ? error : undefined,
    entries,
    entriesError,
    active: activeStates(chart, isNewer ? step.to : detail?.value),
    taken: last === undefined ? new Set() : takenBy(chart, last),
    seq: last?.seq,
  };
}

const textOf = (state: unknown): string | null => (typeof state === 'string' ? state : null);

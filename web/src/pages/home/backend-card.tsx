import type { ComponentChildren } from 'preact';
import { get, MON } from '../../api/client.ts';
import { Ago, duration, Since } from '../../components/time.tsx';
import { paths } from '../../routing/paths.ts';
import { useLoaded } from '../../state/resource.ts';

interface Queue {
  used: number;
  limit: number | null;
}

export interface BackendHealth {
  version: string;
  started_at: number;
  ledger_seq: number;
  lag: { median: number; p99: number; max: number };
  blind: number;
  refused: number;
  quarantined: number;
  open_decisions: Queue;
  outbox: Queue;
  dead_letters: Queue;
  store_bytes: number | null;
  disk: { free: number; total: number; full_at: number | null } | null;
}

const REFRESH_MS = 15_000;
/** Limits above which a value is marked. Lag in seconds, parts of a limit, and time until the disk is full. */
const LAG_S = 0.25;
const FULL = 0.8;
const DISK_FREE = 0.1;
const GIB = 1_073_741_824;
const MIB = 1_048_576;
const KIB = 1_024;

export const useBackend = () =>
  useLoaded('backend', () => get<BackendHealth>(`${MON}/backend`), { everyMs: REFRESH_MS });

export function bytes(count: number): string {
  if (count >= GIB) return `${(count / GIB).toFixed(1)} GiB`;
  return count >= MIB ? `${Math.round(count / MIB)} MiB` : `${Math.round(count / KIB)} KiB`;
}

/** The problems of the backend. */
function problemsOf({ lag, refused, quarantined, outbox, dead_letters, disk }: BackendHealth): string[] {
  const isFull = ({ used, limit }: Queue): boolean => limit !== null && used > FULL * limit;
  return [
    ...(lag.p99 > LAG_S ? [`the backend answers ${lag.p99.toFixed(2)} s late`] : []),
    ...(refused > 0 ? [`${refused} changes were refused`] : []),
    ...(quarantined > 0 ? [`${quarantined} actors are in quarantine`] : []),
    ...(isFull(outbox) ? ['the outbox is nearly full'] : []),
    ...(dead_letters.used > 0 ? [`${dead_letters.used} dead letters`] : []),
    ...(disk !== null && disk.free < DISK_FREE * disk.total ? ['the disk is nearly full'] : []),
    ...(disk !== null && disk.full_at !== null ? ['the disk fills up'] : []),
  ];
}

export function BackendCard() {
  const { state } = useBackend();
  const { data, error } = state.value;
  return (
    <section class="card" aria-labelledby="backend">
      <header>
        <h2 id="backend">Backend</h2>
        <a href={paths.settings()}>Details</a>
      </header>
      {error !== undefined && <p class="error-text">{error}</p>}
      {data !== undefined && <BackendSummary health={data} />}
    </section>
  );
}

export function BackendSummary({ health }: { health: BackendHealth }) {
  const { lag, blind, outbox, disk, store_bytes: stored, started_at: startedAt } = health;
  const found = problemsOf(health);
  return (
    <>
      <p class={found.length === 0 ? 'tone-ok' : 'tone-warning'}>
        <strong>{found.length === 0 ? 'The backend is healthy' : found.join(', ')}</strong>
      </p>
      <dl class="facts">
        <Fact name="Running">
          for <Since at={startedAt} />
        </Fact>
        <Fact name="Lag">
          {(lag.p99 * 1_000).toFixed(0)} ms, at most {(lag.max * 1_000).toFixed(0)} ms
        </Fact>
        <Fact name="Blind time">{blind === 0 ? 'none since the start' : `${duration(blind)} since the start`}</Fact>
        <Fact name="Waiting notifications">{outbox.used}</Fact>
        {stored !== null && <Fact name="Store">{bytes(stored)}</Fact>}
        {disk !== null && (
          <Fact name="Disk">
            {bytes(disk.free)} free{disk.full_at === null ? '' : <Ago at={disk.full_at} prefix=", full " />}
          </Fact>
        )}
      </dl>
    </>
  );
}

export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

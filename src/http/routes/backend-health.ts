import { Type } from 'typebox';
import type { QueueStats } from '../../ports/queue-stats.ts';
import { json } from '../answer/answers.ts';
import { nullable } from '../openapi/descriptions.ts';
import type { Route } from '../request/route.ts';

const QueueSchema = Type.Object({ used: Type.Integer(), limit: nullable(Type.Integer()) });
const S = 'Unix seconds';

const BackendHealthSchema = Type.Object(
  {
    version: Type.String(),
    started_at: Type.Number({ description: S }),
    ledger_seq: Type.Integer({ description: 'Number of the last durable ledger entry' }),
    lag: Type.Object(
      { median: Type.Number(), p99: Type.Number(), max: Type.Number() },
      { description: 'Of the event loop in the last one to two minutes, seconds' },
    ),
    blind: Type.Number({ description: 'Blind time since the start, seconds' }),
    refused: Type.Integer({ description: 'Changes that were refused because a queue was full' }),
    quarantined: Type.Integer({ description: 'Actors in quarantine' }),
    open_decisions: QueueSchema,
    outbox: QueueSchema,
    dead_letters: QueueSchema,
    store_bytes: nullable(Type.Integer()),
    disk: nullable(
      Type.Object({
        free: Type.Integer({ description: 'Bytes' }),
        total: Type.Integer({ description: 'Bytes' }),
        full_at: nullable(
          Type.Number({
            description: `When the disk is full if it fills as in the last hour: ${S}; null if it does not`,
          }),
        ),
      }),
    ),
  },
  { $id: 'mon/v1.BackendHealth' },
);

/** The health of a backend, as measured by itself. Times in ms, sizes in bytes. */
export interface BackendHealth {
  startedAtMs: number;
  ledgerSeq: number;
  /** Seconds. */
  lag: { median: number; p99: number; max: number };
  blindMs: number;
  refused: number;
  quarantined: number;
  openDecisions: QueueStats;
  outbox: QueueStats;
  deadLetters: QueueStats;
  storeBytes: number | undefined;
  disk: { freeBytes: number; totalBytes: number; fullAtMs: number | undefined } | undefined;
}

export interface BackendHealthPorts {
  version: string;
  backendHealth(): BackendHealth;
}

/** Shows the state of the backend itself: its lag, its queues, its disk and its blind time. */
export function backendHealthRoutes({ version, backendHealth }: BackendHealthPorts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/mon/v1/backend',
      access: 'authenticated',
      reads: 'nothing',
      description: {
        summary: 'Show the state of the backend itself',
        tag: 'status',
        credentials: ['bearer'],
        answers: { 200: { schema: BackendHealthSchema } },
      },
      handle: () => {
        const { startedAtMs, ledgerSeq, lag, blindMs, refused, quarantined, disk, ...sizes } = backendHealth();
        return json({
          version,
          started_at: startedAtMs / 1_000,
          ledger_seq: ledgerSeq,
          lag,
          blind: blindMs / 1_000,
          refused,
          quarantined,
          open_decisions: shown(sizes.openDecisions),
          outbox: shown(sizes.outbox),
          dead_letters: shown(sizes.deadLetters),
          store_bytes: sizes.storeBytes ?? null,
          disk:
            disk === undefined
              ? null
              : {
                  free: disk.freeBytes,
                  total: disk.totalBytes,
                  full_at: disk.fullAtMs === undefined ? null : disk.fullAtMs / 1_000,
                },
        });
      },
    },
  ];
}

const shown = ({ used, limit }: QueueStats) => ({ used, limit: limit ?? null });

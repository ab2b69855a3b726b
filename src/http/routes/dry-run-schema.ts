import { type Static, Type } from 'typebox';
import type { DryRunOutcome, DryRunResult } from '../../pipeline/dry-run.ts';
import { EventSchema } from '../../resources/event.ts';
import { nullable } from '../openapi/descriptions.ts';

export const DryRunRequestSchema = Type.Object(
  {
    event: Type.Union([
      EventSchema,
      Type.Object({ entity: Type.String(), check: Type.String() }, { description: 'The stored event of these names' }),
    ]),
    handlers: Type.Optional(Type.Array(Type.String(), { description: 'Instead of those of the event' })),
    pipelines: Type.Optional(Type.Array(Type.String(), { description: 'Instead of those of the event' })),
  },
  { $id: 'mon/v1.DryRunRequest' },
);

const RunSchema = Type.Object({
  pipeline: nullable(Type.String()),
  workflow: nullable(Type.String()),
  handler: Type.String(),
  outcome: Type.Enum(['would-run', 'denied', 'skipped', 'failed', 'timed-out', 'unknown'], {
    description: '`unknown`: a run would download an asset first',
  }),
  reason: Type.String(),
  filters: Type.Array(
    Type.Object({
      name: Type.String(),
      built_in: Type.Boolean(),
      passes: nullable(Type.Boolean({ description: 'Whether it passes the event; null if it was not evaluated' })),
      note: Type.String(),
      expressions: Type.Array(
        Type.Object({
          expression: Type.String(),
          value: Type.String({ description: 'The value, or why there is none' }),
        }),
      ),
    }),
  ),
  mutator: Type.Object({
    name: Type.String(),
    evaluated: Type.Boolean(),
    note: Type.String(),
    payload: nullable(Type.String({ description: 'The beginning of what the handler would receive' })),
    bytes: nullable(Type.Integer({ description: 'The size of all of it' })),
  }),
  target: nullable(
    Type.Object(
      { type: Type.String(), command: nullable(Type.String()), socket: nullable(Type.String()) },
      { description: 'Null if the handler does not exist' },
    ),
  ),
  missing: Type.Array(Type.String(), { description: 'Assets and secrets without which the run would end' }),
});

export const DryRunSchema = Type.Object(
  {
    silenced: Type.Array(Type.String(), { description: 'Silences that would apply to the event' }),
    runs: Type.Array(RunSchema),
    left_out: Type.Integer({ description: 'Further runs that were not examined' }),
  },
  { $id: 'mon/v1.DryRun' },
);

/** A dry run as the API shows it. */
export const shownDryRun = (
  { runs, left }: DryRunResult,
  silenced: readonly string[],
): Static<typeof DryRunSchema> => ({
  silenced: [...silenced],
  runs: runs.map(shownRun),
  left_out: left,
});

function shownRun(run: DryRunOutcome): Static<typeof RunSchema> {
  const { handler, outcome, reason, filters, mutator, target, missing } = run;
  return {
    pipeline: run.pipeline ?? null,
    workflow: run.workflow ?? null,
    handler,
    outcome,
    reason,
    filters: filters.map(({ name, isBuiltIn, passes, note, expressions }) => ({
      name,
      built_in: isBuiltIn,
      passes: passes ?? null,
      note,
      expressions,
    })),
    mutator: {
      name: mutator.name,
      evaluated: mutator.isEvaluated,
      note: mutator.note,
      payload: mutator.payload ?? null,
      bytes: mutator.bytes ?? null,
    },
    target:
      target === undefined
        ? null
        : { type: target.type, command: target.command ?? null, socket: target.socket ?? null },
    missing,
  };
}

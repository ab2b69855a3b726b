import { type Static, Type } from 'typebox';
import { int64Of } from './int64.ts';
import { exactInt64, optional, orAbsent, text } from './schema.ts';

const TagSchema = Type.Object({ name: optional(text()), value: optional(text()) });

export const MetricPointSchema = Type.Object({
  name: optional(text()),
  value: optional(Type.Number()),
  timestamp: Type.Optional(exactInt64('Unix seconds, or the unit of the source')),
  tags: optional(Type.Array(Type.Unsafe<Static<typeof TagSchema> | null>({ ...TagSchema, type: ['object', 'null'] }))),
});

export type MetricPoint = ReturnType<typeof metricPointWithDefaults>;

export const metricPointWithDefaults = (input: Static<typeof MetricPointSchema>) => ({
  name: orAbsent(input.name),
  value: input.value ?? 0,
  timestamp: int64Of(input.timestamp),
  tags: input.tags?.map((tag) => ({ name: tag?.name ?? '', value: tag?.value ?? '' })) ?? null,
});

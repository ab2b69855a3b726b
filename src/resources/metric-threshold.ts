import { type Static, Type } from 'typebox';
import { InvalidResource } from './errors.ts';
import { parseGoFloat } from './go-float.ts';
import { listOrNull, optional, text, uint32 } from './schema.ts';

export const MetricThresholdSchema = Type.Object({
  name: optional(text()),
  tags: optional(Type.Array(Type.Object({ name: optional(text()), value: optional(text()) }))),
  thresholds: optional(
    Type.Array(Type.Object({ min: optional(text()), max: optional(text()), status: optional(uint32()) })),
  ),
  null_status: optional(uint32()),
});

export type MetricThreshold = ReturnType<typeof metricThresholdWithDefaults>;

export const metricThresholdWithDefaults = (input: Static<typeof MetricThresholdSchema>) => ({
  name: input.name ?? '',
  tags: listOrNull(input.tags?.map(({ name, value }) => ({ name: name ?? '', value: value ?? '' }))),
  thresholds: listOrNull(
    input.thresholds?.map((rule) => ({ min: rule.min ?? '', max: rule.max ?? '', status: rule.status ?? 0 })),
  ),
  null_status: input.null_status ?? 0,
});

/** @throws InvalidResource that names the threshold by its index */
export function assertMetricThresholds(thresholds: readonly MetricThreshold[]): void {
  for (const [index, threshold] of thresholds.entries()) {
    const error = thresholdError(threshold);
    if (error !== undefined) throw new InvalidResource(`invalid metric threshold ${index}: ${error}`);
  }
}

function thresholdError(threshold: MetricThreshold): string | undefined {
  if (threshold.name === '') return 'metric threshold name must not be empty';
  if (threshold.thresholds === null) return 'there must be at least one threshold rule';
  for (const [index, rule] of threshold.thresholds.entries()) {
    const [min, max] = [rule.min.trim(), rule.max.trim()];
    if (min === '' && max === '') return `rule ${index}: One of Min or Max required`;
    if (min !== '' && !isNumber(min)) return `rule ${index}: Min must be a floating point number`;
    if (max !== '' && !isNumber(max)) return `rule ${index}: Max but be a floating point number`;
  }
  const nameless = threshold.tags?.findIndex((tag) => tag.name === '') ?? -1;
  return nameless < 0 ? undefined : `tag ${nameless}: metric threshold tag name must not be empty`;
}

const isNumber = (limit: string): boolean => parseGoFloat(limit) !== undefined;

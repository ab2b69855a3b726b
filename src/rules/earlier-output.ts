import type { EventCheck } from '../resources/event.ts';
import { customOf } from './earlier-attributes.ts';

const DEFAULT_LENGTH = 255;

/** Whether the results of a check are metrics. Source: spec/05 3.1.1. */
export const isMetric = (check: Pick<EventCheck, 'output_metric_format' | 'metadata'>): boolean =>
  check.output_metric_format !== '' || customOf(check.metadata)['type'] === 'metric';

/** Returns the output as the first generation stores it with a result: metrics are cut to a part of their first line. Source: spec/05 8.5. */
export function storedOutput(check: Pick<EventCheck, 'output' | 'output_metric_format' | 'metadata'>): string {
  const { output } = check;
  const { truncate_output: truncates, truncate_output_length: given } = customOf(check.metadata);
  if (!(truncates === true || (truncates !== false && isMetric(check)))) return output;
  const length = typeof given === 'number' ? given : DEFAULT_LENGTH;
  const [line = '', ...others] = output.split('\n');
  const isWhole = line.length <= length && others.length <= 1 && others.every((rest) => rest === '');
  // The first generation keeps one character more than the length.
  return isWhole ? line : `${line.slice(0, length + 1)}\n...`;
}

import { parseGoFloat } from '../../resources/go-float.ts';
import type { MetricPoint } from '../../resources/metric-point.ts';
import {
  type ExtractedPart,
  type ExtractionContext,
  type Extractor,
  MAX_LINE_CHARACTERS,
  parseTag,
} from './extraction.ts';

/** Everything but the characters of a number, such as a unit. */
const NOT_NUMERIC = /[^0-9.-]/g;
/** The beginning of a metric that names it in the log. */
const MAX_SHOWN_CHARACTERS = 200;

/** Items `label=value[unit][;…]` after the only `|` in the output of a plugin. Source: spec/03 8.1. */
export const extractNagiosPerfdata: Extractor = function* (output, context): Generator<ExtractedPart> {
  const [, perfdata, ...others] = output.split('|', 3);
  if (perfdata === undefined || others.length > 0) return;
  for (const metric of itemsOf(perfdata.trim())) {
    const point = pointOf(metric, context);
    yield typeof point === 'string'
      ? { place: { metric: metric.slice(0, MAX_SHOWN_CHARACTERS) }, reason: point }
      : point;
  }
};

/** The items between blanks. There is at least one, which may be empty. */
function* itemsOf(text: string): Generator<string> {
  for (let start = 0; start <= text.length;) {
    const blank = text.indexOf(' ', start);
    const end = blank < 0 ? text.length : blank;
    yield text.slice(start, end);
    start = end + 1;
  }
}

function pointOf(metric: string, { tags, executedS }: ExtractionContext): MetricPoint | string {
  if (metric.length > MAX_LINE_CHARACTERS)
    return `nagios perfdata requires metrics of at most ${MAX_LINE_CHARACTERS} characters`;
  const item = parseTag(metric.split(';', 1)[0] ?? '');
  if (item === undefined) return 'nagios perfdata requires metrics of the form label=value';
  const value = parseGoFloat(item.value.replaceAll(NOT_NUMERIC, ''));
  if (value === undefined) return 'nagios perfdata requires a number as the value of a metric';
  return { name: item.name, value, timestamp: executedS, tags: [...tags] };
}

import { parseGoFloat } from '../../resources/go-float.ts';
import type { MetricPoint } from '../../resources/metric-point.ts';
import { type ExtractionContext, type Extractor, extractLines, parseTags } from './extraction.ts';
import { parseInteger } from './integer.ts';

/** The digits of a timestamp in milliseconds. */
const MILLISECONDS_DIGITS = 13;

/** Lines `name timestamp value tag=value[ tag=value]*`. Source: spec/03 8.1. */
export const extractOpentsdbLine: Extractor = (output, context) =>
  extractLines(output, (line) => pointsOf(line, context));

function pointsOf(line: string, context: ExtractionContext): MetricPoint[] | string {
  const [name = '', timeText = '', valueText = '', ...tagTexts] = line.split(' ');
  if (tagTexts.length === 0) return 'opentsdb line format requires at least 4 arguments';
  const time = parseInteger(timeText);
  if (time === undefined) return 'opentsdb line format requires a whole number as the timestamp';
  const value = parseGoFloat(valueText);
  if (value === undefined) return 'opentsdb line format requires a number as the value';
  const tags = parseTags(tagTexts);
  if (tags === undefined) return 'opentsdb line format requires tags of the form name=value';
  const timestamp = timeText.length === MILLISECONDS_DIGITS ? Math.trunc(time / 1_000) : time;
  return [{ name, value, timestamp, tags: [...tags, ...context.tags] }];
}

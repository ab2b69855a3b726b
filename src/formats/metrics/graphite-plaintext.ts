import { parseGoFloat } from '../../resources/go-float.ts';
import type { MetricPoint } from '../../resources/metric-point.ts';
import { type ExtractionContext, type Extractor, extractLines, parseTags } from './extraction.ts';
import { parseInteger } from './integer.ts';

/** Lines `path[;tag=value]* value timestamp`. Source: spec/03 8.1. */
export const extractGraphitePlaintext: Extractor = (output, context) =>
  extractLines(output, (line) => pointsOf(line, context));

function pointsOf(line: string, context: ExtractionContext): MetricPoint[] | string {
  const [series = '', valueText = '', timeText, ...others] = line.split(' ', 4);
  if (timeText === undefined || others.length > 0) return 'graphite plain text format requires exactly 3 arguments';
  const [name = '', ...tagTexts] = series.split(';');
  const value = parseGoFloat(valueText);
  if (value === undefined) return 'graphite plain text format requires a number as the value';
  const timestamp = parseInteger(timeText);
  if (timestamp === undefined) return 'graphite plain text format requires whole seconds as the timestamp';
  const tags = parseTags(tagTexts);
  if (tags === undefined) return 'graphite plain text format requires tags of the form name=value';
  return [{ name, value, timestamp, tags: [...context.tags, ...tags] }];
}

import { parseGoFloat } from '../../resources/go-float.ts';
import type { MetricPoint } from '../../resources/metric-point.ts';
import { type ExtractionContext, type Extractor, extractLines, type MetricTag, parseTags } from './extraction.ts';
import { parseInteger } from './integer.ts';

/** The digits of a timestamp that are seconds. */
const SECONDS_DIGITS = 10;

/** Lines `measurement[,tag=value]* field=number[,field=number]* [timestamp]` with a point for each field. Source: spec/03 8.1. */
export const extractInfluxdbLine: Extractor = (output, context) =>
  extractLines(output, (line) => pointsOf(line, context));

function pointsOf(line: string, context: ExtractionContext): Iterable<MetricPoint> | string {
  const [series = '', fieldList, timeText, ...others] = line.split(' ', 4);
  if (fieldList === undefined || others.length > 0) return 'influxdb line format requires 2 or 3 arguments';
  const timestamp = timeText === undefined ? context.nowS : parseInteger(timeText.slice(0, SECONDS_DIGITS));
  if (timestamp === undefined) return 'influxdb line format requires a whole number as the timestamp';
  const [measurement = '', ...tagTexts] = series.split(',');
  const tags = parseTags(tagTexts);
  if (tags === undefined) return 'influxdb line format requires tags of the form name=value';
  const fields = parseTags(fieldList.split(','));
  if (fields === undefined) return 'influxdb line format requires fields of the form name=value';
  const values = fields.map(({ name, value }) => ({ name: `${measurement}.${name}`, value: parseGoFloat(value) }));
  if (!values.every(isNumber)) return 'influxdb line format requires a number as the value of a field';
  return withTags(values, timestamp, [...tags, ...context.tags]);
}

interface Field {
  readonly name: string;
  readonly value: number;
}

const isNumber = (field: { name: string; value: number | undefined }): field is Field => field.value !== undefined;

/**
 * Each point has tags of its own, which are built when they are read: a line can have thousands of fields and of tags.
 */
function* withTags(fields: readonly Field[], timestamp: number, tags: readonly MetricTag[]): Generator<MetricPoint> {
  for (const field of fields) yield { ...field, timestamp, tags: [...tags] };
}

import type { MetricPoint } from '../../resources/metric-point.ts';

export interface MetricTag {
  name: string;
  value: string;
}

/** The values of the points of an output that do not come from the output. */
export interface ExtractionContext {
  /** Tags of the check. */
  readonly tags: readonly MetricTag[];
  /** Unix seconds of the run. */
  readonly executedS: number;
  /** Unix seconds. */
  readonly nowS: number;
}

/** A part of an output that is not a metric. */
export interface SkippedPart {
  /** The index of the line, from 0, or the beginning of a metric that shares a line with others. */
  readonly place: { readonly line: number } | { readonly metric: string };
  readonly reason: string;
}

/** `undefined` means a part without content, such as an empty line: the caller may pause after each part. */
export type ExtractedPart = MetricPoint | SkippedPart | undefined;

/** Takes the metrics out of the output of a check, one by one. Takes time linear in the output and in what it yields. */
export type Extractor = (output: string, context: ExtractionContext) => Iterable<ExtractedPart>;

/** A longer line ends the extraction. */
export const MAX_LINE_CHARACTERS = 64 * 1024;

export const isSkipped = (part: MetricPoint | SkippedPart): part is SkippedPart => 'reason' in part;

/** Extracts points line by line. `pointsOf` returns the reason why a line is not valid. */
export function* extractLines(
  output: string,
  pointsOf: (line: string) => Iterable<MetricPoint> | string,
): Generator<ExtractedPart> {
  let index = 0;
  for (const line of linesOf(output.trim())) {
    const found = pointsOf(line);
    if (typeof found === 'string') yield { place: { line: index }, reason: found };
    else for (const point of found) yield isFinitePoint(point) ? point : undefined;
    index += 1;
  }
}

/** JSON has no numbers that are not finite. */
export const isFinitePoint = ({ value }: MetricPoint): boolean => Number.isFinite(value);

/** Yields lines without their ends. Ends before a line that is too long. */
export function* linesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    if (end - start > MAX_LINE_CHARACTERS) return;
    yield text.slice(start, end > start && text[end - 1] === '\r' ? end - 1 : end);
    start = end + 1;
  }
}

/** Parses `name=value`; undefined for a text that has not exactly one `=`. */
export function parseTag(text: string): MetricTag | undefined {
  const [name = '', value, ...others] = text.split('=', 3);
  return value === undefined || others.length > 0 ? undefined : { name, value };
}

/** Parses tags; undefined when one of them is not valid. */
export function parseTags(texts: readonly string[]): MetricTag[] | undefined {
  const tags = texts.map(parseTag);
  return tags.every((tag) => tag !== undefined) ? tags : undefined;
}

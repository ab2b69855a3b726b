import { parseGoFloat } from '../../resources/go-float.ts';
import { linesOf, type MetricTag } from './extraction.ts';
import { parseInteger } from './integer.ts';

export interface PrometheusSample {
  readonly name: string;
  readonly labels: readonly MetricTag[];
  readonly value: number;
  readonly timestampMs: number | undefined;
}

export interface PrometheusFamily {
  readonly name: string;
  /** `counter`, `gauge`, `summary`, `histogram` or `untyped`. */
  type: string;
  help: string | undefined;
  readonly samples: PrometheusSample[];
}

export interface PrometheusText {
  /** In the order of their first line. */
  readonly families: PrometheusFamily[];
  /** The first error, with the index of its line from 0. Nothing after it is read. */
  readonly error: { readonly line: number; readonly reason: string } | undefined;
}

const COMMENT = /^[ \t]*#/;
const ABOUT_FAMILY = /^[ \t]*#[ \t]*(HELP|TYPE)[ \t]+([a-zA-Z_:][\w:]*)[ \t]*(.*)$/;
const TYPES = new Set(['counter', 'gauge', 'summary', 'histogram', 'untyped']);
const NAME = /[ \t]*([a-zA-Z_:][\w:]*)[ \t]*/y;
const LABEL = /[ \t]*([a-zA-Z_]\w*)[ \t]*=[ \t]*"((?:[^"\\]|\\[\\"n])*)"[ \t]*/y;
const ESCAPE = /\\([\\"n])/g;
/** Notations of Go's numbers that the format does not have. */
const FOREIGN_NUMBER = /[pP_]/;

class SyntaxFailed extends Error {}

/** Samples and families of a text. What follows them is not read. */
const MAX_SAMPLES = 50_000;
/** Labels of all samples. */
const MAX_LABELS = 200_000;

/** Characters that are read between two pauses. */
const PAUSE_CHARACTERS = 16 * 1024;

/**
 * Reads the exposition format 0.0.4 up to its first error. Takes time linear in the text, and yields again and again, so that the
 * caller may pause.
 */
export function* readPrometheus(text: string): Generator<undefined, PrometheusText> {
  const reader = new Reader();
  let line = 0;
  let unpaused = 0;
  for (const each of linesOf(text)) {
    unpaused += each.length + 1;
    if (unpaused > PAUSE_CHARACTERS) {
      yield;
      unpaused = 0;
    }
    try {
      reader.read(each);
    } catch (error) {
      if (!(error instanceof SyntaxFailed)) throw error;
      return { families: reader.families, error: { line, reason: error.message } };
    }
    line += 1;
  }
  return { families: reader.families, error: undefined };
}

class Reader {
  readonly #families = new Map<string, PrometheusFamily>();
  #samples = 0;
  #labels = 0;

  get families(): PrometheusFamily[] {
    return [...this.#families.values()];
  }

  /** @throws SyntaxFailed */
  read(line: string): void {
    if (line.trim() === '') return;
    if (COMMENT.test(line)) this.#comment(line);
    else this.#sample(line);
  }

  #comment(line: string): void {
    const [, keyword, name = '', rest = ''] = ABOUT_FAMILY.exec(line) ?? [];
    if (keyword === undefined) return;
    const family = this.#family(name);
    if (keyword === 'HELP') {
      if (family.help !== undefined) throw new SyntaxFailed(`prometheus text has a second HELP of ${name}`);
      family.help = unescaped(rest);
      return;
    }
    const type = rest.trim().toLowerCase();
    if (!TYPES.has(type)) throw new SyntaxFailed(`prometheus text has the unknown type "${rest}"`);
    if (family.samples.length > 0) throw new SyntaxFailed(`prometheus text has the TYPE of ${name} after its samples`);
    family.type = type;
  }

  #sample(line: string): void {
    NAME.lastIndex = 0;
    const [prefix = '', name] = NAME.exec(line) ?? [];
    if (name === undefined) throw new SyntaxFailed('prometheus text requires the name of a metric');
    const { labels, end } =
      line[prefix.length] === '{' ? labelsIn(line, prefix.length + 1) : { labels: [], end: prefix.length };
    const [valueText = '', timeText, ...others] = line
      .slice(end)
      .trim()
      .split(/[ \t]+/, 3);
    const value = FOREIGN_NUMBER.test(valueText) ? undefined : parseGoFloat(valueText);
    if (value === undefined) throw new SyntaxFailed(`prometheus text requires a number as the value of ${name}`);
    const timestampMs = timeText === undefined ? undefined : parseInteger(timeText);
    if (timeText !== undefined && timestampMs === undefined) {
      throw new SyntaxFailed(`prometheus text requires whole milliseconds as the timestamp of ${name}`);
    }
    this.#familyOfSample(name).samples.push({ name, labels, value, timestampMs });
    this.#labels += labels.length;
    if (this.#labels > MAX_LABELS) throw new SyntaxFailed(`prometheus text has more than ${MAX_LABELS} labels`);
    this.#count();
    if (others.length > 0) throw new SyntaxFailed(`prometheus text has more after the timestamp of ${name}`);
  }

  /** Samples of summaries and histograms have suffixes that their families have not. */
  #familyOfSample(name: string): PrometheusFamily {
    const [, base = '', suffix] = /^(.+)_(sum|count|bucket)$/.exec(name) ?? [];
    const family = this.#families.get(base);
    const isPart = family?.type === 'histogram' || (family?.type === 'summary' && suffix !== 'bucket');
    return family !== undefined && isPart ? family : this.#family(name);
  }

  #family(name: string): PrometheusFamily {
    let family = this.#families.get(name);
    if (family === undefined) {
      family = { name, type: 'untyped', help: undefined, samples: [] };
      this.#families.set(name, family);
      this.#count();
    }
    return family;
  }

  /** Counts a sample or a family. @throws SyntaxFailed */
  #count(): void {
    this.#samples += 1;
    if (this.#samples > MAX_SAMPLES) throw new SyntaxFailed(`prometheus text has more than ${MAX_SAMPLES} samples`);
  }
}

/** Reads the labels from the index after the opening brace. Returns the index after the closing one. @throws SyntaxFailed */
function labelsIn(line: string, start: number): { labels: MetricTag[]; end: number } {
  const labels: MetricTag[] = [];
  let index = start;
  while (line[index] !== '}') {
    LABEL.lastIndex = index;
    const [all, name = '', value = ''] = LABEL.exec(line) ?? [];
    if (all === undefined) throw new SyntaxFailed('prometheus text requires labels of the form name="value"');
    labels.push({ name, value: unescaped(value) });
    index += all.length;
    if (line[index] === ',') index += 1;
    else if (line[index] !== '}') throw new SyntaxFailed('prometheus text requires a comma between labels');
    while (line[index] === ' ') index += 1;
  }
  return { labels, end: index + 1 };
}

const unescaped = (text: string): string =>
  text.replaceAll(ESCAPE, (_, character: string) => (character === 'n' ? '\n' : character));

/** The text violates the exposition format; the message contains the line. */
export class MalformedMetrics extends Error {}

export interface MetricSample {
  /** Name of the sample, with its suffix in a summary or histogram. */
  name: string;
  labels: Readonly<Record<string, string>>;
  value: number;
}

export interface MetricFamily {
  name: string;
  type: string;
  help: string;
  samples: MetricSample[];
}

const TYPES = ['counter', 'gauge', 'summary', 'histogram', 'untyped'];
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  summary: ['', '_sum', '_count'],
  histogram: ['_bucket', '_sum', '_count'],
};
const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/y;
const NUMBER = /^(?:[+-]?Inf|NaN|[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/;

/** A strict parser of the Prometheus text format 0.0.4: each family occurs once, with HELP, TYPE and then its own samples. */
export class MetricsText {
  readonly families = new Map<string, MetricFamily>();
  readonly #seen = new Set<string>();
  #family: MetricFamily | undefined;
  #help: { name: string; help: string } | undefined;

  /** @throws MalformedMetrics */
  constructor(text: string) {
    if (!text.endsWith('\n')) throw new MalformedMetrics('the last line has no line feed');
    for (const line of text.slice(0, -1).split('\n')) {
      if (line.startsWith('# HELP ')) this.#readHelp(line);
      else if (line.startsWith('# TYPE ')) this.#readType(line);
      else if (line !== '') this.#readSample(line);
    }
  }

  /** Returns the value of the series with exactly these labels, or 0 if there is none. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number {
    const wanted = seriesOf(name, labels);
    const samples = [...this.families.values()].flatMap((family) => family.samples);
    return samples.find((sample) => seriesOf(sample.name, sample.labels) === wanted)?.value ?? 0;
  }

  /** Number of series. */
  get series(): number {
    return this.#seen.size;
  }

  #readHelp(line: string): void {
    const [, , name = '', ...texts] = line.split(' ');
    if (!NAME.test(name)) throw new MalformedMetrics(`invalid name: ${line}`);
    if (this.families.has(name)) throw new MalformedMetrics(`duplicate family: ${line}`);
    this.#help = { name, help: texts.join(' ') };
  }

  #readType(line: string): void {
    const [, , name = '', type = '', ...rest] = line.split(' ');
    if (rest.length > 0 || !TYPES.includes(type)) throw new MalformedMetrics(`invalid type: ${line}`);
    if (this.#help?.name !== name) throw new MalformedMetrics(`no HELP line before: ${line}`);
    this.#family = { ...this.#help, type, samples: [] };
    this.#help = undefined;
    this.families.set(name, this.#family);
  }

  #readSample(line: string): void {
    const [, name = '', labelsText = '', valueText = ''] = SAMPLE.exec(line) ?? [];
    const family = this.#family;
    if (name === '' || !NUMBER.test(valueText)) throw new MalformedMetrics(`invalid sample: ${line}`);
    const names = (SUFFIXES[family?.type ?? ''] ?? ['']).map((suffix) => `${family?.name ?? ''}${suffix}`);
    if (family === undefined || !names.includes(name)) throw new MalformedMetrics(`sample of another family: ${line}`);
    const labels = labelsOf(labelsText, line);
    const value = Number(valueText.replace('Inf', 'Infinity'));
    if (family.type === 'counter' && !(value >= 0)) throw new MalformedMetrics(`invalid counter value: ${line}`);
    const series = seriesOf(name, labels);
    if (this.#seen.has(series)) throw new MalformedMetrics(`duplicate series: ${line}`);
    this.#seen.add(series);
    family.samples.push({ name, labels, value });
  }
}

function labelsOf(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const [, name = '', value = ''] = LABEL.exec(text) ?? [];
    if (name === '' || name in labels) throw new MalformedMetrics(`invalid labels: ${line}`);
    labels[name] = value.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
  }
  return labels;
}

const seriesOf = (name: string, labels: Readonly<Record<string, string>>): string =>
  JSON.stringify([name, Object.entries(labels).toSorted(([one], [other]) => (one < other ? -1 : 1))]);

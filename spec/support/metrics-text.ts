/** A text that is not what scrapers expect; names the line. */
export class MalformedMetrics extends Error {}

export interface MetricSample {
  /** With the suffix that it has in a summary. */
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

/** The text format of Prometheus, version 0.0.4, read strictly: each family once, with HELP, TYPE and then its own samples. */
export class MetricsText {
  readonly families = new Map<string, MetricFamily>();
  readonly #seen = new Set<string>();
  #family: MetricFamily | undefined;
  #help: { name: string; help: string } | undefined;

  /** @throws MalformedMetrics */
  constructor(text: string) {
    if (!text.endsWith('\n')) throw new MalformedMetrics('the last line does not end');
    for (const line of text.slice(0, -1).split('\n')) {
      if (line.startsWith('# HELP ')) this.#readHelp(line);
      else if (line.startsWith('# TYPE ')) this.#readType(line);
      else if (line !== '') this.#readSample(line);
    }
  }

  /** Of the one series with just these labels; 0 for a series that is not there. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number {
    const wanted = seriesOf(name, labels);
    const samples = [...this.families.values()].flatMap((family) => family.samples);
    return samples.find((sample) => seriesOf(sample.name, sample.labels) === wanted)?.value ?? 0;
  }

  /** How many series there are. */
  get series(): number {
    return this.#seen.size;
  }

  #readHelp(line: string): void {
    const [, , name = '', ...words] = line.split(' ');
    if (!NAME.test(name)) throw new MalformedMetrics(`not a name: ${line}`);
    if (this.families.has(name)) throw new MalformedMetrics(`a family for the second time: ${line}`);
    this.#help = { name, help: words.join(' ') };
  }

  #readType(line: string): void {
    const [, , name = '', type = '', ...rest] = line.split(' ');
    if (rest.length > 0 || !TYPES.includes(type)) throw new MalformedMetrics(`not a type: ${line}`);
    if (this.#help?.name !== name) throw new MalformedMetrics(`no help before: ${line}`);
    this.#family = { ...this.#help, type, samples: [] };
    this.#help = undefined;
    this.families.set(name, this.#family);
  }

  #readSample(line: string): void {
    const [, name = '', labelsText = '', valueText = ''] = SAMPLE.exec(line) ?? [];
    const family = this.#family;
    if (name === '' || !NUMBER.test(valueText)) throw new MalformedMetrics(`not a sample: ${line}`);
    const names = (SUFFIXES[family?.type ?? ''] ?? ['']).map((suffix) => `${family?.name ?? ''}${suffix}`);
    if (family === undefined || !names.includes(name)) throw new MalformedMetrics(`not of the family above: ${line}`);
    const labels = labelsOf(labelsText, line);
    const value = Number(valueText.replace('Inf', 'Infinity'));
    if (family.type === 'counter' && !(value >= 0)) throw new MalformedMetrics(`not a count: ${line}`);
    const series = seriesOf(name, labels);
    if (this.#seen.has(series)) throw new MalformedMetrics(`a series for the second time: ${line}`);
    this.#seen.add(series);
    family.samples.push({ name, labels, value });
  }
}

function labelsOf(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const [, name = '', value = ''] = LABEL.exec(text) ?? [];
    if (name === '' || name in labels) throw new MalformedMetrics(`not labels: ${line}`);
    labels[name] = value.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
  }
  return labels;
}

const seriesOf = (name: string, labels: Readonly<Record<string, string>>): string =>
  JSON.stringify([name, Object.entries(labels).toSorted(([one], [other]) => (one < other ? -1 : 1))]);

import { ApiClient } from './api-client.ts';
import { MetricsText } from './metrics-text.ts';

type Labels = Readonly<Record<string, string>>;

/** Returns the metrics of a backend, requested without credentials. @throws MalformedMetrics */
export async function scrape({ apiPort }: { apiPort: number }): Promise<MetricsText> {
  const client = new ApiClient(apiPort);
  try {
    const { status, text } = await client.get('/metrics');
    if (status !== 200) throw new Error(`GET /metrics answered ${status} ${text}`);
    return new MetricsText(text);
  } finally {
    client.close();
  }
}

/** Measures how much metrics change from `begin` on. */
export class MetricChanges {
  readonly #backend: { apiPort: number };
  readonly #before: MetricsText;

  private constructor(backend: { apiPort: number }, before: MetricsText) {
    this.#backend = backend;
    this.#before = before;
  }

  static async begin(backend: { apiPort: number }): Promise<MetricChanges> {
    return new MetricChanges(backend, await scrape(backend));
  }

  /** Returns the change of each series, in the given order. */
  async of(...series: readonly (readonly [name: string, labels?: Labels])[]): Promise<number[]> {
    const after = await scrape(this.#backend);
    return series.map(([name, labels]) => after.value(name, labels) - this.#before.value(name, labels));
  }
}

import type { CounterName, MetricRegistry, SummaryName } from './metric-registry.ts';

/**
 * The metrics of the agent. Each counter and summary appears with its first value. The library for the exposition is loaded when it
 * is needed: most agents are never scraped. The metrics of the process that are measured over time begin then. Source: spec/03 6.
 */
export class AgentMetrics {
  /** Counts that the registry does not have yet. */
  readonly #counts = new Map<CounterName, number>();
  #loading: Promise<MetricRegistry> | undefined;

  count(name: CounterName, times = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + times);
  }

  async observe(name: SummaryName, ms: number): Promise<void> {
    (await this.#registry()).observe(name, ms);
  }

  /** The exposition in the text format of Prometheus, sorted by name, and its content type. */
  async scrape(): Promise<{ type: string; text: string }> {
    const registry = await this.#registry();
    for (const [name, count] of this.#counts) registry.add(name, count);
    this.#counts.clear();
    return registry.scrape();
  }

  #registry(): Promise<MetricRegistry> {
    this.#loading ??= import('./metric-registry.ts').then((loaded) => new loaded.MetricRegistry());
    return this.#loading;
  }
}

import { collectDefaultMetrics, Counter, Registry, Summary } from 'prom-client';

/** The prefix of the reference, which existing boards use, and ours. */
const PREFIXES = ['sensu_go_agent_', 'mon_agent_'] as const;
const MAX_AGE_S = 600;
const QUANTILES = [0.5, 0.9, 0.99];
/** The minimum and the mean of delays of the event loop of which none has been measured yet. */
const UNMEASURED = /^nodejs_eventloop_lag_\w+ (?:nan|9223372036\.\d+)$/im;

const COUNTERS = {
  messages_received: 'Messages received from backends',
  messages_sent: 'Messages sent to backends',
  messages_dropped: 'Messages that could not be sent',
  new_connections: 'Connections to backends',
  websocket_errors: 'Failures of connections to backends',
  statsd_invalid_lines: 'Lines of StatsD that were dropped because they are invalid',
  statsd_dropped_datagrams: 'Datagrams of StatsD that the system dropped because its buffer was full',
} as const;

const SUMMARIES = {
  asset_fetch_duration: 'Duration of downloads of assets in milliseconds',
  asset_expand_duration: 'Duration of unpacking assets in milliseconds',
} as const;

export type CounterName = keyof typeof COUNTERS;
export type SummaryName = keyof typeof SUMMARIES;

/** The metrics of the agent as Prometheus reads them, and those of its process. */
export class MetricRegistry {
  readonly #registry = new Registry();
  readonly #counters = new Map<CounterName, Counter[]>();
  readonly #summaries = new Map<SummaryName, Summary[]>();

  constructor() {
    collectDefaultMetrics({ register: this.#registry });
  }

  add(name: CounterName, count: number): void {
    let counters = this.#counters.get(name);
    if (counters === undefined) {
      const registers = [this.#registry];
      counters = PREFIXES.map((prefix) => new Counter({ name: prefix + name, help: COUNTERS[name], registers }));
      this.#counters.set(name, counters);
    }
    for (const counter of counters) counter.inc(count);
  }

  observe(name: SummaryName, ms: number): void {
    let summaries = this.#summaries.get(name);
    if (summaries === undefined) {
      const options = { help: SUMMARIES[name], registers: [this.#registry], percentiles: QUANTILES };
      summaries = PREFIXES.map(
        (prefix) => new Summary({ ...options, name: prefix + name, maxAgeSeconds: MAX_AGE_S, ageBuckets: 5 }),
      );
      this.#summaries.set(name, summaries);
    }
    for (const summary of summaries) summary.observe(ms);
  }

  /** The exposition in the text format of Prometheus, sorted by name, without what is not measured yet, and its content type. */
  async scrape(): Promise<{ type: string; text: string }> {
    const exposition = await this.#registry.metrics();
    const families = exposition.split(/\n+(?=# HELP )/).map((family) => family.trim());
    const measured = families.filter((family) => !UNMEASURED.test(family));
    return { type: this.#registry.contentType, text: `${measured.toSorted().join('\n')}\n` };
  }
}

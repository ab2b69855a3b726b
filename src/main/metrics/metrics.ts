import { type MetricObjectWithValues, type MetricValueWithName, Registry } from 'prom-client';
import type { BackendStats } from './backend-stats.ts';
import { addBoundFamilies } from './bound-families.ts';
import { addEventFamilies } from './event-families.ts';
import { EventLoopLag, type Lag } from './event-loop-lag.ts';
import { Families } from './families.ts';
import { HandlerDurations } from './handler-durations.ts';
import { addProcessFamilies } from './process-families.ts';
import { addSystemFamilies } from './system-families.ts';
import { addWorldFamilies } from './world-families.ts';

/** The metrics of a backend. Its parts keep their own counts, which only a scrape reads. */
export class Metrics {
  readonly handlers: HandlerDurations;
  readonly #registry = new Registry();
  readonly #families = new Families(this.#registry);
  readonly #lag = new EventLoopLag();
  #readBackend: (() => BackendStats) | undefined;
  #stats: BackendStats | undefined;

  /** Adds the metrics of the process and of the program, whose version this is. */
  constructor(version: string) {
    this.handlers = new HandlerDurations(this.#registry);
    addProcessFamilies(this.#families, this.#lag);
    addBuildInfo(this.#families, version);
    this.#lag.start();
  }

  /** Adds the metrics of a backend, whose parts are open by then. Each scrape calls `read` once. */
  addBackend(read: () => BackendStats): void {
    this.#readBackend = read;
    const stats = (): BackendStats => {
      if (this.#stats === undefined) throw new Error('the stats are read outside a scrape');
      return this.#stats;
    };
    addEventFamilies(this.#families, stats);
    addBoundFamilies(this.#families, stats);
    addSystemFamilies(this.#families, stats);
    addWorldFamilies(this.#families, stats);
  }

  /** The text in the format of Prometheus, version 0.0.4. */
  async scrape(): Promise<{ type: string; text: string }> {
    this.#stats = this.#readBackend?.();
    // The registry reads every family before it returns its promise.
    const text = this.#registry.metrics();
    this.#stats = undefined;
    return { type: this.#registry.contentType, text: await text };
  }

  /** The values of all metrics, for a log. */
  read(): Promise<MetricObjectWithValues<MetricValueWithName<string>>[]> {
    this.#stats = this.#readBackend?.();
    const values = this.#registry.getMetricsAsJSON() as Promise<MetricObjectWithValues<MetricValueWithName<string>>[]>;
    this.#stats = undefined;
    return values;
  }

  /** The lag of the event loop. */
  get lag(): Lag {
    return this.#lag.read();
  }

  stop(): void {
    this.#lag.stop();
  }
}

function addBuildInfo(families: Families, version: string): void {
  families.gauges('sensu_go_build_info', 'The version of this program', ['version'], () => [[1, { version }]]);
  const node = process.versions.node;
  families.gauges('mon_build_info', 'The versions of this program and of Node.js', ['version', 'node'], () => [
    [1, { version, node }],
  ]);
}

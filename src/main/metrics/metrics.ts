import { Registry } from 'prom-client';
import type { BackendStats } from './backend-stats.ts';
import { addBoundFamilies } from './bound-families.ts';
import { addEventFamilies } from './event-families.ts';
import { EventLoopLag } from './event-loop-lag.ts';
import { Families } from './families.ts';
import { HandlerDurations } from './handler-durations.ts';
import { addProcessFamilies } from './process-families.ts';
import { addSystemFamilies } from './system-families.ts';

export interface MetricsPorts {
  /** Asked once for each scrape. */
  figures(): BackendStats;
  /** Of this program. */
  version: string;
}

/** What a backend tells to whoever scrapes it: the parts count, and are asked only then. */
export class Metrics {
  readonly handlers: HandlerDurations;
  readonly #ports: MetricsPorts;
  readonly #registry = new Registry();
  readonly #lag = new EventLoopLag();
  #figures: BackendStats | undefined;

  constructor(ports: MetricsPorts) {
    this.#ports = ports;
    this.handlers = new HandlerDurations(this.#registry);
    const families = new Families(this.#registry);
    const read = (): BackendStats => {
      if (this.#figures === undefined) throw new Error('figures are read outside a scrape');
      return this.#figures;
    };
    addEventFamilies(families, read);
    addBoundFamilies(families, read);
    addSystemFamilies(families, read);
    addProcessFamilies(families, this.#lag);
    addBuildInfo(families, ports.version);
    this.#lag.start();
  }

  /** In the text format of Prometheus, version 0.0.4. */
  async scrape(): Promise<{ type: string; text: string }> {
    this.#figures = this.#ports.figures();
    // Every family is read before the first await.
    const text = this.#registry.metrics();
    this.#figures = undefined;
    return { type: this.#registry.contentType, text: await text };
  }

  stop(): void {
    this.#lag.stop();
  }
}

function addBuildInfo(families: Families, version: string): void {
  families.gauges('sensu_go_build_info', 'The version of this program', ['version'], () => [[1, { version }]]);
  const node = process.versions.node;
  families.gauges('mon_build_info', 'The version of this program, and what runs it', ['version', 'node'], () => [
    [1, { version, node }],
  ]);
}

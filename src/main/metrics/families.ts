import { Counter, Gauge, type Registry } from 'prom-client';

/** A value, and the labels of its series. */
export type Sample<L extends string> = readonly [value: number, labels: Readonly<Record<L, string>>];

/** Families of one registry. Their values are read at each scrape; between scrapes they cost nothing. */
export class Families {
  readonly #registers: Registry[];

  constructor(registry: Registry) {
    this.#registers = [registry];
  }

  gauge(name: string, help: string, read: () => number): void {
    const registers = this.#registers;
    const gauge: Gauge = new Gauge({ name, help, registers, collect: () => gauge.set(read()) });
  }

  counter(name: string, help: string, read: () => number): void {
    const collect = (): void => {
      counter.reset();
      counter.inc(read());
    };
    const counter: Counter = new Counter({ name, help, registers: this.#registers, collect });
  }

  /** A series disappears when a scrape no longer reads it, also that of a family without labels. */
  gauges<L extends string>(name: string, help: string, labelNames: L[], read: () => Iterable<Sample<L>>): void {
    const collect = (): void => {
      gauge.reset();
      // A reset gives a gauge without labels the value 0.
      if (labelNames.length === 0) gauge.remove();
      for (const [value, labels] of read()) gauge.set(labels, value);
    };
    const gauge: Gauge<L> = new Gauge({ name, help, labelNames, registers: this.#registers, collect });
  }

  counters<L extends string>(name: string, help: string, labelNames: L[], read: () => Iterable<Sample<L>>): void {
    const collect = (): void => {
      counter.reset();
      for (const [value, labels] of read()) counter.inc(labels, value);
    };
    const counter: Counter<L> = new Counter({ name, help, labelNames, registers: this.#registers, collect });
  }
}

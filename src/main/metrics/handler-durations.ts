import { type Registry, Summary } from 'prom-client';
import type { HandleEvent } from '../../pipeline/workflow-run.ts';
import type { Clock } from '../../ports/clock.ts';
import { MAX_SERIES, OTHERS } from './bounded-series.ts';

/** The quantiles that dashboards expect, over the last ten minutes. */
const QUANTILES = { percentiles: [0.5, 0.9, 0.99], maxAgeSeconds: 600, ageBuckets: 5 };

/** Durations of handlers, ms. Each run is observed: that costs little beside the run itself. */
export class HandlerDurations {
  readonly #ofHandlers: Summary<'namespace' | 'resource_ref' | 'status'>;
  readonly #ofEvents: Summary<'event_type' | 'status'>;
  readonly #known = new Set<string>();

  constructor(registry: Registry) {
    this.#ofHandlers = new Summary({
      ...QUANTILES,
      name: 'sensu_go_pipeline_handler_duration',
      help: 'Duration of handlers, milliseconds',
      labelNames: ['namespace', 'resource_ref', 'status'],
      registers: [registry],
    });
    this.#ofEvents = new Summary({
      ...QUANTILES,
      name: 'sensu_go_event_handler_duration',
      help: 'Milliseconds from the decision that an event is handled to the end of its handler, by the wall clock',
      labelNames: ['event_type', 'status'],
      registers: [registry],
    });
  }

  /** Returns a function that calls `handle` and observes its runs, except those that did not start or that a stop of the backend ended. */
  observing(handle: HandleEvent, clock: Clock): HandleEvent {
    return async (handler, input, entry) => {
      const startedMs = clock.monotonicMs();
      const result = await handle(handler, input, entry);
      if (input.signal.aborted || result.outcome === 'not-started') return result;
      const status = result.outcome === 'handled' ? 'success' : 'error';
      this.#ofHandlers.observe({ ...this.#seriesOf(entry), status }, clock.monotonicMs() - startedMs);
      const event_type = entry.event.check === undefined ? 'metrics' : 'check';
      this.#ofEvents.observe({ event_type, status }, Math.max(0, clock.nowMs() - entry.decidedAtMs));
      return result;
    };
  }

  /** The first handlers that run have a series of their own; the others share one. */
  #seriesOf({ namespace, handler }: { namespace: string; handler: string }) {
    const name = `${namespace}/${handler}`;
    if (this.#known.size < MAX_SERIES) this.#known.add(name);
    return this.#known.has(name)
      ? { namespace, resource_ref: `core/v2.Handler(Name=${handler})` }
      : { namespace: OTHERS, resource_ref: OTHERS };
  }
}

import { expect } from 'chai';
import { Registry } from 'prom-client';
import { boundedSeries, MAX_SERIES, OTHERS } from '../../../src/main/metrics/bounded-series.ts';
import { EventLoopLag, type Lag } from '../../../src/main/metrics/event-loop-lag.ts';
import { Families } from '../../../src/main/metrics/families.ts';
import { HandlerDurations } from '../../../src/main/metrics/handler-durations.ts';
import { handlerWithDefaults } from '../../../src/resources/handler.ts';
import type { Event } from '../../../src/resources/event.ts';
import type { HandlerResult } from '../../../src/pipeline/handlers/handler-result.ts';
import type { OutboxEntry } from '../../../src/store/records/records.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { MetricsText } from '../../support/metrics-text.ts';

describe('metric families', () => {
  let registry: Registry;
  let families: Families;
  const scraped = async (): Promise<MetricsText> => new MetricsText(await registry.metrics());

  beforeEach(() => {
    registry = new Registry();
    families = new Families(registry);
  });

  it('are read at each scrape and at no other time', async () => {
    let reads = 0;
    families.gauge('depth', 'x', () => (reads += 1));
    families.counter('done', 'x', () => (reads += 1));
    expect(reads).to.equal(0);
    await scraped();
    const second = await scraped();
    expect([second.value('depth'), second.value('done'), reads]).to.deep.equal([3, 4, 4]);
  });

  it('have the declared type and help text', async () => {
    families.gauge('depth', 'How much', () => 1);
    families.counters('done', 'How often', ['by'], () => [[2, { by: 'x' }]]);
    const metrics = await scraped();
    expect(metrics.families.get('depth')).to.include({ type: 'gauge', help: 'How much' });
    expect(metrics.families.get('done')).to.include({ type: 'counter', help: 'How often' });
  });

  it('escape label values', async () => {
    const odd = 'a "quoted" \\n, a\nline}{';
    families.gauges('odd', 'x', ['name'], () => [[7, { name: odd }]]);
    expect((await scraped()).value('odd', { name: odd })).to.equal(7);
  });

  it('drop a series that the last scrape did not return', async () => {
    let names = ['one', 'two'];
    families.gauges('seen', 'x', ['name'], () => names.map((name) => [1, { name }]));
    expect((await scraped()).series).to.equal(2);
    names = ['two'];
    expect((await scraped()).families.get('seen')?.samples.map(({ labels }) => labels)).to.deep.equal([
      { name: 'two' },
    ]);
  });

  it('have no series while a gauge without labels has no value', async () => {
    let days: number | undefined;
    families.gauges('days', 'x', [], () => (days === undefined ? [] : [[days, {}]]));
    const seriesOf = async () => (await scraped()).families.get('days')?.samples.map(({ value }) => value);
    expect(await seriesOf()).to.deep.equal([]);
    days = 3;
    expect(await seriesOf()).to.deep.equal([3]);
    days = undefined;
    expect(await seriesOf()).to.deep.equal([]);
  });
});

describe('series labelled with names from users', () => {
  it('are complete up to the bound', () => {
    const counts = new Map(Array.from({ length: MAX_SERIES }, (_, n) => [`n${n}`, n]));
    expect(new Map(boundedSeries(counts))).to.deep.equal(counts);
  });

  it('are beyond the bound the largest series and the sum of the others', () => {
    const counts = new Map(Array.from({ length: MAX_SERIES + 3 }, (_, n) => [`n${n}`, n + 1]));
    const series = new Map(boundedSeries(counts));
    expect(series.size).to.equal(MAX_SERIES + 1);
    expect(series.get(OTHERS)).to.equal(1 + 2 + 3);
    expect(series.has('n2')).to.equal(false);
    expect(series.get('n3')).to.equal(4);
  });
});

describe('handler durations', () => {
  const PIPE = handlerWithDefaults({ metadata: { name: 'h', namespace: 'default' }, type: 'pipe', command: 'true' });
  let registry: Registry;
  let durations: HandlerDurations;
  let clock: ManualClock;

  beforeEach(() => {
    registry = new Registry();
    durations = new HandlerDurations(registry);
    clock = new ManualClock();
  });

  const entry = (
    handler: string,
    event: Partial<Event> = { check: {} as NonNullable<Event['check']> },
  ): OutboxEntry => ({
    notificationId: 'n',
    namespace: 'default',
    handler,
    key: 'default/e/c',
    event: event as Event,
    decidedAtMs: clock.nowMs() - 500,
  });

  async function ran(of: OutboxEntry, outcome: HandlerResult['outcome'], tookMs: number, signal?: AbortSignal) {
    const run = durations.observing(async () => {
      await clock.advance(tookMs);
      return { outcome, reason: '', status: undefined };
    }, clock);
    await run(PIPE, input(signal), of);
  }

  const input = (signal = new AbortController().signal) => ({ payload: '', notificationId: 'n', signal });

  const scraped = async (): Promise<MetricsText> => new MetricsText(await registry.metrics());

  it('are measured for the handler and for the event, in milliseconds', async () => {
    await ran(entry('h'), 'handled', 40);
    await ran(entry('h'), 'failed', 100);
    await ran(entry('h', {}), 'handled', 60);
    const metrics = await scraped();
    const h = { namespace: 'default', resource_ref: 'core/v2.Handler(Name=h)' };
    const ofHandler = (status: string, what: string) =>
      metrics.value(`sensu_go_pipeline_handler_duration_${what}`, { ...h, status });
    expect([ofHandler('success', 'count'), ofHandler('success', 'sum')]).to.deep.equal([2, 100]);
    expect([ofHandler('error', 'count'), ofHandler('error', 'sum')]).to.deep.equal([1, 100]);
    const ofEvent = (event_type: string, status: string) =>
      metrics.value('sensu_go_event_handler_duration_sum', { event_type, status });
    expect([ofEvent('check', 'success'), ofEvent('check', 'error'), ofEvent('metrics', 'success')]).to.deep.equal([
      540, 600, 560,
    ]);
    const quantiles = metrics.families
      .get('sensu_go_pipeline_handler_duration')
      ?.samples.filter(({ labels }) => labels['status'] === 'error' && 'quantile' in labels)
      .map(({ labels, value }) => [labels['quantile'], value]);
    expect(quantiles).to.deep.equal([
      ['0.5', 100],
      ['0.9', 100],
      ['0.99', 100],
    ]);
  });

  it('do not count a handler that was aborted', async () => {
    await ran(entry('h'), 'failed', 10, AbortSignal.abort());
    expect((await scraped()).series).to.equal(0);
  });

  it('are kept for a bounded number of handlers', async () => {
    const result = { outcome: 'handled', reason: '', status: undefined } as const;
    const run = durations.observing(() => Promise.resolve(result), clock);
    for (let n = 0; n < MAX_SERIES + 2; n += 1) await run(PIPE, input(), entry(`h${n}`));
    await run(PIPE, input(), entry('h0'));
    const metrics = await scraped();
    const counted = (namespace: string, resource_ref: string) =>
      metrics.value('sensu_go_pipeline_handler_duration_count', { namespace, resource_ref, status: 'success' });
    expect(counted('default', 'core/v2.Handler(Name=h0)')).to.equal(2);
    expect(counted('default', `core/v2.Handler(Name=h${MAX_SERIES})`)).to.equal(0);
    expect(counted(OTHERS, OTHERS)).to.equal(2);
  });
});

describe('the lag of the event loop', () => {
  it('is at least the time for which the loop was blocked', async () => {
    const lag = new EventLoopLag();
    lag.start();
    try {
      const block = (): Lag => {
        const untilMs = performance.now() + 120;
        while (performance.now() < untilMs);
        return lag.read();
      };
      const { median, p99, max } = await eventually(block, (read) => read.max >= 0.1, { what: 'a lag of 100 ms' });
      expect(max).to.be.below(60);
      expect(median).to.be.at.most(p99);
      expect(p99).to.be.at.most(max);
    } finally {
      lag.stop();
    }
  });
});

import { expect } from 'chai';
import type { HandlerRun } from '../../src/pipeline/handlers/handler-result.ts';
import { RunEnded } from '../../src/pipeline/run-ended.ts';
import { workflowRunner, type WorkflowPorts } from '../../src/pipeline/workflow-run.ts';
import { Overloaded } from '../../src/resources/errors.ts';
import { parseEvent } from '../../src/resources/event.ts';
import { eventFilterWithDefaults } from '../../src/resources/event-filter.ts';
import { handlerWithDefaults } from '../../src/resources/handler.ts';
import { mutatorWithDefaults } from '../../src/resources/mutator.ts';
import type { OutboxEntry } from '../../src/store/records/records.ts';
import { proxyEvent } from '../support/example-events.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { RecordedLog } from '../support/recorded-log.ts';
import { plainWorkflowPorts } from '../support/workflow-ports.ts';

const ENTRY: OutboxEntry = {
  notificationId: '1',
  namespace: 'default',
  handler: 'mail',
  filters: ['twice'],
  key: 'default/web-1/disk',
  event: parseEvent(proxyEvent('web-1', 'disk', { status: 2 })),
  decidedAtMs: 0,
};
const HANDLER = handlerWithDefaults({
  metadata: { name: 'mail', namespace: 'default' },
  type: 'pipe',
  command: 'true',
});
const FILTER = eventFilterWithDefaults({ action: 'allow', expressions: ['f()'] });

const withCode = (code: string): Error => Object.assign(new Error(`${code}: open`), { code });

describe('a run of the outbox', () => {
  let log: RecordedLog;

  beforeEach(() => {
    log = new RecordedLog();
  });

  async function runWith(
    filters: Partial<WorkflowPorts['filters']>,
    signal = new AbortController().signal,
  ): Promise<HandlerRun> {
    const plain = plainWorkflowPorts(new ManualClock(), () => HANDLER);
    const run = workflowRunner({
      ...plain,
      log,
      filters: {
        filter: () => FILTER,
        libraries: () => Promise.resolve([]),
        evaluate: () => Promise.resolve({ passes: true, notes: [] }),
        ...filters,
      },
      handle: () => Promise.resolve({ outcome: 'handled', reason: '', status: 0 }),
    });
    return run(ENTRY, { hasPassedFilters: false, signal });
  }

  it('is handled when its filters pass the event', async () => {
    expect(await runWith({})).to.include({ outcome: 'handled' });
  });

  it('fails for an unexpected error, which the log has, instead of ending the backend', async () => {
    const error = new TypeError('x is undefined');
    const result = await runWith({ evaluate: () => Promise.reject(error) });
    expect(result).to.deep.equal({
      outcome: 'failed',
      reason: 'internal error: x is undefined',
      status: undefined,
      isUnfiltered: true,
    });
    const [line] = log.lines;
    expect(line?.msg).to.equal('could not run a handler because of an internal error');
    expect(line?.fields).to.deep.include({ err: error, namespace: 'default', handler: 'mail', event: ENTRY.key });
  });

  it('is tried again when its filters cannot be read because descriptors are used up', async () => {
    const result = await runWith({ libraries: () => Promise.reject(withCode('EMFILE')) });
    expect(result).to.deep.equal({ outcome: 'not-started', reason: 'EMFILE: open' });
  });

  it('says whether its filters had passed when it failed', async () => {
    const missing = { libraries: () => Promise.reject(new RunEnded('failed', 'asset "a" cannot be fetched')) };
    expect(await runWith(missing)).to.include({ outcome: 'failed', isUnfiltered: true });
    const run = workflowRunner({
      ...plainWorkflowPorts(new ManualClock(), () => HANDLER),
      environment: () => Promise.reject(new RunEnded('failed', 'asset "a" cannot be fetched')),
      handle: () => Promise.reject(new Error('not reached')),
    });
    const { signal } = new AbortController();
    const result = await run({ ...ENTRY, filters: [] }, { hasPassedFilters: false, signal });
    expect(result).to.include({ outcome: 'failed' }).and.not.have.property('isUnfiltered');
  });

  it('that a stop aborts leaves no error in the log', async () => {
    const stop = new AbortController();
    const libraries = (): Promise<never> => {
      stop.abort(new Error('the backend stops'));
      return Promise.reject(new Error('the backend stops'));
    };
    expect(await runWith({ libraries }, stop.signal)).to.include({ outcome: 'failed' });
    expect(log.lines).to.deep.equal([]);
  });

  it('of a socket handler needs none of the assets and secrets that only commands use', async () => {
    const plain = plainWorkflowPorts(new ManualClock(), () => ({ ...HANDLER, type: 'tcp', runtime_assets: ['none'] }));
    const run = workflowRunner({
      ...plain,
      environment: () => Promise.reject(new RunEnded('skipped', 'asset "none" does not exist')),
      handle: () => Promise.resolve({ outcome: 'handled', reason: '', status: undefined }),
    });
    const { signal } = new AbortController();
    expect(await run({ ...ENTRY, filters: [] }, { hasPassedFilters: false, signal })).to.include({
      outcome: 'handled',
    });
  });

  it('lets a stop abort the download of the libraries of its filters and its mutator', async () => {
    const signals: unknown[] = [];
    const plain = plainWorkflowPorts(new ManualClock(), () => ({ ...HANDLER, mutator: 'm' }));
    const mutator = mutatorWithDefaults({ type: 'javascript', eval: 'return ""', runtime_assets: ['library'] });
    const libraries = (...[, , , signal]: unknown[]): Promise<string[]> => {
      signals.push(signal);
      return Promise.resolve([]);
    };
    const run = workflowRunner({
      ...plain,
      filters: { filter: () => FILTER, libraries, evaluate: () => Promise.resolve({ passes: true, notes: [] }) },
      mutators: { ...plain.mutators, mutator: () => mutator, libraries, evaluate: () => Promise.resolve({ data: '' }) },
      handle: () => Promise.resolve({ outcome: 'handled', reason: '', status: 0 }),
    });
    const { signal } = new AbortController();
    expect(await run(ENTRY, { hasPassedFilters: false, signal })).to.include({ outcome: 'handled' });
    expect(signals).to.deep.equal([signal, signal]);
  });

  it('is tried again when the sandbox cannot take its filters', async () => {
    const result = await runWith({ evaluate: () => Promise.reject(new Overloaded('the sandbox cannot be started')) });
    expect(result).to.deep.equal({ outcome: 'not-started', reason: 'the sandbox cannot be started' });
    expect(log.lines).to.deep.equal([]);
  });
});

import type { FilterResult } from '../../src/pipeline/filters.ts';
import type { HandlerRun } from '../../src/pipeline/handlers/handler-result.ts';
import { Pipeline } from '../../src/pipeline/pipeline.ts';
import { parseEvent } from '../../src/resources/event.ts';
import { StoreUnavailable } from '../../src/resources/errors.ts';
import { eventFilterWithDefaults } from '../../src/resources/event-filter.ts';
import { type Handler, handlerWithDefaults } from '../../src/resources/handler.ts';
import type { Attempts, Notification, OutboxEntry } from '../../src/store/records/records.ts';
import { handlerDelivery } from '../../src/resources/handler-delivery.ts';
import { workflowRunner } from '../../src/pipeline/workflow-run.ts';
import { plainWorkflowPorts } from '../support/workflow-ports.ts';
import { eventually } from '../support/eventually.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { RecordedLog } from '../support/recorded-log.ts';

const EVENT = parseEvent({
  entity: { entity_class: 'proxy', metadata: { name: 'sw-1', namespace: 'default' } },
  metrics: { handlers: [], points: [] },
});
export const HANDLED: HandlerRun = { outcome: 'handled', reason: '', status: 0 };
const ABORTED: HandlerRun = { outcome: 'failed', reason: 'aborted', status: undefined };

/** A pipeline over an outbox in memory, whose handlers run until they are released, or at once. */
export class OutboxInMemory {
  readonly clock = new ManualClock();
  readonly log = new RecordedLog();
  readonly entries = new Map<string, OutboxEntry>();
  readonly handlers = new Map<string, Handler>();
  readonly namespaces = new Set(['default', 'dev']);
  readonly settled: Notification[] = [];
  /** Keys of the outbox whose run has begun, in that order. */
  readonly begun: string[] = [];
  readonly hanging = new Map<string, () => void>();
  readonly pipeline: Pipeline;
  /** Names of handlers that run until they are released. */
  hangs = new Set<string>();
  /** Names of handlers among them that have done their work when they are aborted. */
  handledWhenAborted = new Set<string>();
  /** Handlers that cannot be started. */
  shortOf = new Set<string>();
  /** How many outcomes cannot be stored, and why. */
  failures = 0;
  failure: Error = new StoreUnavailable('the store cannot be written');

  readonly attempts = new Map<string, Attempts>();
  /** What the filter of entries with one decides. */
  filter: () => Promise<FilterResult> = () => Promise.resolve({ passes: true, notes: [] });
  /** Why a handler does not reach its target. */
  unreachable = new Map<string, string>();

  constructor({ handlerRetryForMs = 0 } = {}) {
    const find = (namespace: string, name: string): Handler | undefined => this.handlers.get(`${namespace}/${name}`);
    const run = workflowRunner({
      ...plainWorkflowPorts(this.clock, find),
      filters: {
        filter: () => eventFilterWithDefaults({ action: 'allow', expressions: ['f()'] }),
        libraries: () => Promise.resolve([]),
        evaluate: () => this.filter(),
      },
      namespaceExists: (name) => this.namespaces.has(name),
      handle: (_handler, { signal }, entry) => this.#run(entry, signal),
    });
    this.pipeline = new Pipeline({
      clock: this.clock,
      log: this.log,
      entry: (outboxKey) => this.entries.get(outboxKey),
      random: () => 0.5,
      run,
      delivery(namespace, name) {
        const handler = find(namespace, name);
        return handler && { type: handler.type, ...handlerDelivery(handler.metadata) };
      },
      handlerRetryForMs,
      attempted: (outboxKey, attempts) => {
        this.attempts.set(outboxKey, attempts);
        return Promise.resolve();
      },
      done: async (outboxKey, _key, notification) => {
        await Promise.resolve();
        if (this.failures > 0) {
          this.failures -= 1;
          throw this.failure;
        }
        this.entries.delete(outboxKey);
        this.settled.push(notification);
      },
    });
  }

  handler(name: string, type = 'pipe', namespace = 'default', annotations: Record<string, string> = {}): void {
    const metadata = { name, namespace, annotations };
    this.handlers.set(`${namespace}/${name}`, handlerWithDefaults({ metadata, type }));
  }

  add(
    outboxKey: string,
    handler: string,
    {
      key = outboxKey,
      namespace = 'default',
      bytes = 100,
      filters = [],
      ...failed
    }: { key?: string; namespace?: string; bytes?: number; filters?: string[] } & Partial<Attempts> = {},
  ): void {
    const eventKey = `${namespace}/${key}`;
    this.entries.set(outboxKey, {
      notificationId: outboxKey,
      namespace,
      handler,
      key: eventKey,
      event: EVENT,
      filters,
      decidedAtMs: 0,
    });
    this.pipeline.add({ outboxKey, key: eventKey, namespace, handler, bytes, ...failed });
  }

  #run({ notificationId, handler }: OutboxEntry, signal: AbortSignal): Promise<HandlerRun> {
    this.begun.push(notificationId);
    const isUnreachable = this.unreachable.has(handler) || this.unreachable.has(notificationId);
    if (isUnreachable) return Promise.resolve(this.#result(handler, notificationId));
    if (this.shortOf.has(handler)) return Promise.resolve({ outcome: 'not-started', reason: 'spawn sh EMFILE' });
    if (!this.hangs.has(handler)) return Promise.resolve(HANDLED);
    return new Promise((resolve) => {
      const end = (): void => {
        resolve(this.#result(handler, notificationId));
      };
      this.hanging.set(notificationId, end);
      signal.addEventListener('abort', () => {
        resolve(this.handledWhenAborted.has(handler) ? HANDLED : ABORTED);
      });
    });
  }

  #result(handler: string, id: string): HandlerRun {
    const reason = this.unreachable.get(handler) ?? this.unreachable.get(id);
    return reason === undefined ? HANDLED : { outcome: 'failed', reason, status: undefined, isUnreachable: true };
  }

  async settles(...ids: string[]): Promise<void> {
    await eventually(() => ids.every((id) => this.settled.some((one) => one.id === id)), Boolean, { what: `${ids}` });
  }

  outcome(id: string): unknown {
    const { outcome, reason } = this.settled.find((one) => one.id === id) ?? {};
    return { outcome, reason };
  }
}

import { setMaxListeners } from 'node:events';
import { LRUCache } from 'lru-cache';
import { atMost } from '../../ports/at-most.ts';
import { assertCheck, type Check } from '../../resources/check.ts';
import { InvalidResource } from '../../resources/errors.ts';
import type { CheckEvent } from '../../resources/event.ts';
import { redactEvent } from '../../resources/redaction.ts';
import type { CheckRequest } from '../../wire/check-request.ts';
import { CheckFailed, type CheckRunPorts, CheckRuns, type NumberedRequest } from './check-runs.ts';
import { Slots } from './slots.ts';

/** Checks whose last request is remembered. The least recently requested one is evicted. */
const MAX_REMEMBERED_CHECKS = 10_000;
/** Checks that run or wait for a slot. A request beyond that is refused. */
const MAX_RUNNING_CHECKS = 10_000;

const STOPPING = 'agent is stopping';
const ASSETS_DISABLED = 'check requested assets, but they are disabled on this agent';

export interface ExecutorSettings {
  /** Commands of checks that run at a time; 0 for no limit. */
  readonly maxParallelChecks: number;
}

interface ExecutorPorts extends CheckRunPorts {
  nextSequence(checkName: string): number;
  /** Resolves when the event is queued. */
  deliver(event: CheckEvent): Promise<void>;
}

/** Runs requested checks, at most one run of a check at a time and one for each time of issue. */
export class Executor {
  readonly #ports: ExecutorPorts;
  readonly #runs: CheckRuns;
  readonly #slots: Slots;
  readonly #lastIssued = new LRUCache<string, number>(atMost(MAX_REMEMBERED_CHECKS));
  readonly #running = new Map<string, Promise<void>>();
  readonly #abort = new AbortController();
  #accepting = true;

  constructor({ maxParallelChecks }: ExecutorSettings, ports: ExecutorPorts) {
    this.#ports = ports;
    this.#runs = new CheckRuns(ports);
    this.#slots = new Slots(maxParallelChecks);
    // Each running check adds a listener.
    setMaxListeners(0, this.#abort.signal);
  }

  /**
   * Runs the check, unless the request is refused, which is logged, or the check is invalid, which yields a failure
   * event. Source: spec/03 4.1.
   */
  accept(request: CheckRequest): void {
    const { config, issued } = request;
    const name = config.metadata.name ?? '';
    const key = config.proxy_entity_name === '' ? name : `${name}/${config.proxy_entity_name}`;
    const refusal = this.#refusal(key, issued);
    if (refusal !== undefined) {
      this.#ports.log[refusal.level]({ check: name, error: refusal.error }, 'error handling message');
      return;
    }
    const failure = this.#failureOf(request);
    if (failure !== undefined) {
      void this.#fail(this.#numbered(request), failure);
      return;
    }
    this.#lastIssued.set(key, issued);
    this.#ports.log.info({ check: name }, `scheduling check execution: ${name}`);
    const run = this.#slots.with(() => this.#runUnlessStopping(request)).finally(() => this.#running.delete(key));
    this.#running.set(key, run);
  }

  /** Runs a check that has a slot now, unless the agent is stopping. */
  async #runUnlessStopping(request: CheckRequest): Promise<void> {
    if (this.#accepting) await this.#run(this.#numbered(request));
    else this.#ports.log.warn({ check: request.config.metadata.name, error: STOPPING }, 'error handling message');
  }

  /**
   * Accepts no further requests and waits for running checks. After `graceMs` they are killed and their results
   * discarded.
   */
  async stop(graceMs: number): Promise<void> {
    this.#accepting = false;
    const cancel = this.#ports.clock.after(graceMs, () => this.abort());
    await Promise.all(this.#running.values());
    cancel();
  }

  abort(): void {
    this.#accepting = false;
    this.#abort.abort();
  }

  #refusal(key: string, issued: number): { level: 'error' | 'warn'; error: string } | undefined {
    const last = this.#lastIssued.get(key) ?? 0;
    if (!this.#accepting) return { level: 'warn', error: STOPPING };
    if (last > issued) {
      return { level: 'error', error: 'check request is older than a previously received check request' };
    }
    if (last === issued) {
      const error =
        'check request has already been received - agent and check may have multiple matching subscriptions';
      return { level: 'warn', error };
    }
    if (this.#running.has(key)) return { level: 'error', error: `check execution still in progress: ${key}` };
    const isFull = this.#running.size >= MAX_RUNNING_CHECKS;
    return isFull ? { level: 'error', error: `${MAX_RUNNING_CHECKS} checks are in progress` } : undefined;
  }

  /** Why a check cannot be run at all. */
  #failureOf({ config, assets }: CheckRequest): CheckFailed | undefined {
    if ((assets ?? []).length > 0 && !this.#ports.runner.hasAssets) return new CheckFailed(ASSETS_DISABLED);
    const invalid = validationErrorOf(config);
    return invalid === undefined ? undefined : new CheckFailed(`given check is invalid: ${invalid}`);
  }

  #numbered(request: CheckRequest): NumberedRequest {
    return { ...request, sequence: this.#ports.nextSequence(request.config.metadata.name ?? '') };
  }

  async #run(request: NumberedRequest): Promise<void> {
    const { name } = request.config.metadata;
    try {
      const event = await this.#runs.run(request, this.#abort.signal);
      if (event !== undefined) await this.#send(event);
      else this.#ports.log.warn({ check: name }, 'check execution was aborted, discarding the result');
    } catch (error) {
      if (!(error instanceof CheckFailed)) this.#ports.log.error({ check: name, err: error }, 'check execution failed');
      await this.#fail(request, error instanceof CheckFailed ? error : new CheckFailed(unexpectedText(error)));
    }
  }

  async #fail(request: NumberedRequest, failure: CheckFailed): Promise<void> {
    const event = this.#runs.failure(request, failure);
    this.#ports.log.error({ check: request.config.metadata.name, event: redactEvent(event) }, failure.message);
    await this.#send(event);
  }

  async #send(event: CheckEvent): Promise<void> {
    const { name } = event.check.metadata;
    const metrics = event.metrics === undefined ? {} : { metrics: true };
    this.#ports.log.info(
      { event_uuid: event.id, entity: event.entity.metadata.name, check: name, ...metrics },
      'sending event to backend',
    );
    await this.#ports.deliver(event);
  }
}

const unexpectedText = (error: unknown): string =>
  `check execution failed: ${error instanceof Error ? error.message : String(error)}`;

function validationErrorOf(config: Check): string | undefined {
  try {
    assertCheck(config);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidResource) return error.message;
    throw error;
  }
}

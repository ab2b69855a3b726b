import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { constants } from 'node:os';
import { LRUCache } from 'lru-cache';
import type { ProcessReaper } from '../exec/process-reaper.ts';
import { type CommandResult, runCommand } from '../exec/process-group.ts';
import { substituteTokens, TokenError } from '../formats/tokens.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { assertCheck, type Check } from '../resources/check.ts';
import type { Entity } from '../resources/entity.ts';
import { InvalidResource } from '../resources/errors.ts';
import { type CheckEvent, eventCheckWithDefaults, eventWithDefaults } from '../resources/event.ts';
import { redactEntity } from '../resources/redaction.ts';
import type { CheckRequest, RequestedCheck } from '../wire/check-request.ts';
import { encodeJson } from '../wire/json-codec.ts';
import { tokenData } from './token-data.ts';

/** Checks whose last request is remembered. The least recently requested one is evicted. */
const MAX_REMEMBERED_CHECKS = 10_000;

const STATUS_UNKNOWN = 3;
/** A shell adds this to the number of the signal that ended a command. */
const SIGNAL_BASE = 128;

interface ExecutorPorts {
  clock: Clock;
  log: Log;
  /** When present, commands are terminated with this program. */
  reaper?: ProcessReaper | undefined;
  entity(): Entity;
  nextSequence(checkName: string): number;
  deliver(event: CheckEvent): void;
}

/** Runs requested checks, at most one run of a check at a time and one for each time of issue. */
export class Executor {
  readonly #ports: ExecutorPorts;
  readonly #lastIssued = new LRUCache<string, number>({ max: MAX_REMEMBERED_CHECKS });
  /** Bounded by the number of checks that the backend requests from this agent. */
  readonly #running = new Map<string, Promise<void>>();
  readonly #abort = new AbortController();
  #accepting = true;

  constructor(ports: ExecutorPorts) {
    this.#ports = ports;
    // Each running check adds a listener.
    setMaxListeners(0, this.#abort.signal);
  }

  /**
   * Runs the check, unless the request is refused, which is logged, or the check is invalid, which yields a failure
   * event.
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
    const invalid = validationErrorOf(config);
    if (invalid !== undefined) {
      this.#fail(request, `given check is invalid: ${invalid}`);
      return;
    }
    this.#lastIssued.set(key, issued);
    this.#ports.log.info({ check: name }, 'scheduling check execution');
    const run = this.#run(request)
      .catch((error: unknown) => {
        this.#ports.log.error({ check: name, err: error }, 'check execution failed');
        this.#fail(request, `check execution failed: ${error instanceof Error ? error.message : String(error)}`);
      })
      .finally(() => this.#running.delete(key));
    this.#running.set(key, run);
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
    if (!this.#accepting) return { level: 'warn', error: 'agent is stopping' };
    if (last > issued) {
      return { level: 'error', error: 'check request is older than a previously received check request' };
    }
    if (last === issued) {
      const error =
        'check request has already been received - agent and check may have multiple matching subscriptions';
      return { level: 'warn', error };
    }
    return this.#running.has(key) ? { level: 'error', error: `check execution still in progress: ${key}` } : undefined;
  }

  async #run(request: CheckRequest): Promise<void> {
    const config = this.#filled(request);
    if (config === undefined) return;
    // The event has the original command, so that it shows no values.
    const event = this.#eventOf({ ...request, config: { ...config, command: request.config.command } });
    this.#warnOfUnsupported(config);
    const result = await runCommand(
      {
        command: config.command ?? '',
        stdin: config.stdin ? encodeJson({ ...event, id: null, entity: redactEntity(event.entity) }) : undefined,
        environment: [...(request.secrets ?? []), ...(config.env_vars ?? [])],
        timeoutMs: config.timeout * 1000,
        signal: this.#abort.signal,
      },
      this.#ports.clock,
      this.#ports.reaper,
    );
    if (result.ending === 'aborted') {
      this.#ports.log.warn({ check: config.metadata.name }, 'check execution was aborted, discarding the result');
      return;
    }
    const { status, output } = outcomeOf(result);
    this.#send({
      ...event,
      timestamp: this.#nowS(),
      check: {
        ...event.check,
        status,
        output: config.discard_output === true ? '' : output,
        duration: result.durationMs / 1000,
      },
    });
  }

  /** Returns the check with its tokens filled. Reports a failure and returns undefined when they cannot be filled. */
  #filled(request: CheckRequest): RequestedCheck | undefined {
    const { config } = request;
    if (request.tokens_filled === true) return config;
    const { scheduler, ...texts } = config;
    try {
      const filled = substituteTokens(texts, tokenData(this.#ports.entity()));
      return scheduler === undefined ? filled : { ...filled, scheduler };
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      this.#fail(request, `error while substituting check tokens: ${error.message}`);
      return undefined;
    }
  }

  #fail(request: CheckRequest, output: string): void {
    const event = this.#eventOf(request);
    this.#ports.log.error({ check: request.config.metadata.name, error: output }, 'check could not be run');
    this.#send({ ...event, check: { ...event.check, status: STATUS_UNKNOWN, output } });
  }

  #send(event: CheckEvent): void {
    const { name } = event.check.metadata;
    this.#ports.log.info(
      { event_uuid: event.id, entity: event.entity.metadata.name, check: name },
      'sending event to backend',
    );
    this.#ports.deliver(event);
  }

  #eventOf({ config, issued }: CheckRequest): CheckEvent {
    const entity = this.#ports.entity();
    const startedS = this.#nowS();
    return {
      ...eventWithDefaults({ metadata: { namespace: entity.metadata.namespace ?? '' } }),
      id: randomUUID(),
      timestamp: startedS,
      sequence: this.#ports.nextSequence(config.metadata.name ?? ''),
      pipelines: config.pipelines,
      entity,
      check: {
        ...eventCheckWithDefaults({}),
        ...config,
        secrets: null,
        subdues: undefined,
        issued,
        executed: startedS,
        processed_by: entity.metadata.name,
      },
    };
  }

  #warnOfUnsupported({ metadata, runtime_assets: assets, check_hooks: hooks }: Check): void {
    const check = metadata.name;
    if (assets !== null)
      this.#ports.log.warn({ check, assets }, 'assets are not supported, running the check without them');
    if (hooks !== null) this.#ports.log.warn({ check }, 'hooks are not supported, running the check without them');
  }

  #nowS(): number {
    return Math.floor(this.#ports.clock.nowMs() / 1000);
  }
}

function validationErrorOf(config: Check): string | undefined {
  try {
    assertCheck(config);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidResource) return error.message;
    throw error;
  }
}

function outcomeOf(result: CommandResult): { status: number; output: string } {
  if (result.signal === undefined) return result;
  return {
    status: SIGNAL_BASE + constants.signals[result.signal],
    output: `${result.output}Command killed by ${result.signal}\n`,
  };
}

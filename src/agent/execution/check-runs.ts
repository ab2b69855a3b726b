import { randomUUID } from 'node:crypto';
import { setImmediate as nextTick } from 'node:timers/promises';
import { substituteTokens, TokenError } from '../../formats/tokens.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Entity } from '../../resources/entity.ts';
import { type CheckEvent, eventCheckWithDefaults, eventWithDefaults } from '../../resources/event.ts';
import type { CheckRequest, RequestedCheck } from '../../wire/check-request.ts';
import { inputOf } from './command-input.ts';
import { type CommandRunner, deniedStatus, outcomeOf } from './command-runner.ts';
import { Hooks } from './hooks.ts';
import { inSlices } from '../../exec/in-slices.ts';
import { metricsOf } from './output-metrics.ts';
import { evaluateThresholds } from './thresholds.ts';
import { tokenData } from './token-data.ts';

const STATUS_UNKNOWN = 3;
/** The status of a check has 32 bits without a sign. */
const MAX_STATUS = 2 ** 32 - 1;
/** The command of checks in load tests. Nothing is run for it, and no tokens are filled. All backends know it. */
const LOAD_TEST_COMMAND = '!sensu_test_check!';
const LOAD_TEST_OUTPUT = 'load test: no command was run\n';
const DENIED = 'check command denied by the agent allow list';

export interface CheckRunPorts {
  clock: Clock;
  log: Log;
  runner: CommandRunner;
  entity(): Entity;
}

/** A request with the number of its event among those of the check. */
export type NumberedRequest = CheckRequest & { readonly sequence: number };

/** A check was not run, or was not completed. */
export class CheckFailed extends Error {
  readonly status: number;

  /** The message is the output of the event. */
  constructor(message: string, status = STATUS_UNKNOWN, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** Runs checks: tokens, assets, the command, metrics, hooks. Source: spec/03 4.2. */
export class CheckRuns {
  readonly #ports: CheckRunPorts;
  readonly #hooks: Hooks;

  constructor(ports: CheckRunPorts) {
    this.#ports = ports;
    this.#hooks = new Hooks(ports);
  }

  /** Returns the event with the result; undefined when the run was aborted. @throws CheckFailed */
  async run(request: NumberedRequest, signal: AbortSignal): Promise<CheckEvent | undefined> {
    if (request.config.command === LOAD_TEST_COMMAND) {
      return this.#withResult(this.#eventOf(request), { status: 0, output: LOAD_TEST_OUTPUT, durationMs: 0 });
    }
    const config = this.#filled(request);
    // The event has the original command, so that it shows no values.
    const begun = this.#eventOf({ ...request, config: { ...config, command: request.config.command } });
    const command = {
      command: config.command ?? '',
      stdin: config.stdin ? inputOf(begun) : undefined,
      timeoutS: config.timeout,
      assets: request.assets ?? [],
      secrets: request.secrets ?? [],
      variables: config.env_vars ?? [],
    };
    const result = await this.#ports.runner.run(command, signal);
    if (result === 'denied') throw new CheckFailed(DENIED, deniedStatus(config.metadata.annotations, MAX_STATUS));
    if (result instanceof Error) {
      throw new CheckFailed(`error getting assets for check: ${result.reason}`, STATUS_UNKNOWN, { cause: result });
    }
    if (result.ending === 'aborted') return undefined;
    // Reading a large output has taken its time.
    await nextTick();
    const { durationMs } = result;
    const measured = await this.#withMetrics(this.#withResult(begun, { ...outcomeOf(result), durationMs }), config);
    const hooks = await this.#hooks.run(request, measured, signal);
    const { check } = measured;
    const output = config.discard_output === true ? '' : check.output;
    return { ...measured, check: { ...check, output, ...(hooks.length > 0 ? { hooks } : {}) } };
  }

  /** Returns the event of a check that failed without a result. */
  failure(request: NumberedRequest, { message, status }: CheckFailed): CheckEvent {
    const event = this.#eventOf(request);
    return { ...event, check: { ...event.check, status, output: message, processed_by: processor(event) } };
  }

  /** @throws CheckFailed */
  #filled({ config, tokens_filled: isFilled }: NumberedRequest): RequestedCheck {
    if (isFilled === true) return config;
    const { scheduler, ...texts } = config;
    try {
      const filled = substituteTokens(texts, tokenData(this.#ports.entity()));
      return scheduler === undefined ? filled : { ...filled, scheduler };
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      const message = `error while substituting check tokens: ${error.message}`;
      throw new CheckFailed(message, STATUS_UNKNOWN, { cause: error });
    }
  }

  #withResult(event: CheckEvent, result: { status: number; output: string; durationMs: number }): CheckEvent {
    const { status, output, durationMs } = result;
    return {
      ...event,
      timestamp: this.#nowS(),
      check: { ...event.check, status, output, duration: durationMs / 1_000, processed_by: processor(event) },
    };
  }

  /** Thresholds decide the status of a check that has metrics and would be OK. */
  async #withMetrics(event: CheckEvent, config: RequestedCheck): Promise<CheckEvent> {
    const { output, executed: executedS, status } = event.check;
    const metrics = await metricsOf(config, { output, executedS, nowS: this.#nowS() }, this.#ports.log);
    if (metrics === undefined) return event;
    const measured = { ...event, metrics };
    const { output_metric_thresholds: thresholds = [] } = config;
    if (status !== 0 || metrics.points === null || thresholds.length === 0) return measured;
    const result = await inSlices(evaluateThresholds(thresholds, metrics.points));
    const annotations = { ...event.metadata.annotations, ...result.annotations };
    return {
      ...measured,
      metadata: Object.keys(annotations).length === 0 ? event.metadata : { ...event.metadata, annotations },
      check: { ...event.check, status: result.status },
    };
  }

  #eventOf({ config, issued, sequence }: NumberedRequest): CheckEvent {
    const entity = this.#ports.entity();
    const startedS = this.#nowS();
    return {
      ...eventWithDefaults({ metadata: { namespace: entity.metadata.namespace ?? '' } }),
      id: randomUUID(),
      timestamp: startedS,
      sequence,
      pipelines: config.pipelines,
      entity,
      check: {
        ...eventCheckWithDefaults({}),
        ...config,
        secrets: null,
        subdues: undefined,
        issued,
        executed: startedS,
      },
    };
  }

  #nowS(): number {
    return Math.floor(this.#ports.clock.nowMs() / 1_000);
  }
}

/** The name of the agent, which an event has once it has a result. */
const processor = ({ entity }: CheckEvent): string | undefined => entity.metadata.name;

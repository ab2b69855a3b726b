import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiAnswer, ApiClient } from './api-client.ts';
import { ByteSinks } from './byte-sinks.ts';
import { eventually } from './eventually.ts';
import { readGolden } from './golden-file.ts';
import { difference, exactDifference } from './golden-match.ts';
import { withException } from './golden-exceptions.ts';
import { HandlerSink } from './handler-sink.ts';
import { at } from './json-path.ts';
import { type TemporaryDirectory, temporaryDirectory } from './temporary-directory.ts';

interface Outcome {
  /** The handlers that ran, in order. */
  ran: string[];
  /** The standard input of each handler, which the handler has written to a file. */
  stdin: Record<string, string>;
  /** Received texts, per connection and per datagram. */
  tcp?: string[];
  udp?: string[];
}

type Body = Record<string, unknown>;
type Resource = [collection: string, body: Body];

export interface PipelineScenario extends Outcome {
  name: string;
  resources: Resource[];
  steps: { event?: Body; put?: Resource }[];
  answers: { status: number; message?: string }[];
  /** Waiting time for events that must not happen, or happen later. */
  settleMs?: number;
  ours?: Partial<Outcome>;
}

/** No handler of a recording has this name. */
const LAST_HANDLER = 'last-of-the-scenario';
const RUN_WITHIN_MS = 20_000;

/** Reads the scenarios of a recording; `file` is relative to `spec/golden`. */
export function readPipelineScenarios(file: string): PipelineScenario[] {
  return JSON.parse(readGolden(file)) as PipelineScenario[];
}

/**
 * Replays a recorded scenario of the event pipeline in a namespace of its own. `api` is logged in as the administrator.
 * @throws with file, scenario and the first difference
 */
export async function playPipeline(file: string, scenario: PipelineScenario, api: ApiClient): Promise<void> {
  const [directory, sinks, last] = await Promise.all([temporaryDirectory(), ByteSinks.listen(), HandlerSink.listen()]);
  try {
    await new PipelineRunner(file, scenario, { api, directory, sinks, last }).run();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${file} scenario ${scenario.name}: ${reason}`, { cause: error });
  } finally {
    await Promise.all([sinks.close(), last.close()]);
    await directory.remove();
  }
}

interface PipelineTarget {
  api: ApiClient;
  /** Replaces `{out}` in the scenario. */
  directory: TemporaryDirectory;
  sinks: ByteSinks;
  /** Receives an event when all handlers before it are done. */
  last: HandlerSink;
}

class PipelineRunner {
  readonly #file: string;
  readonly #scenario: PipelineScenario;
  readonly #target: PipelineTarget;
  readonly #namespace: string;
  #answered = 0;

  constructor(file: string, scenario: PipelineScenario, target: PipelineTarget) {
    this.#file = file;
    this.#scenario = scenario;
    this.#target = target;
    this.#namespace = `ns-${scenario.name}`;
  }

  async run(): Promise<void> {
    const { resources, steps, settleMs = 0, ours } = this.#scenario;
    await this.#target.api.put(`/api/core/v2/namespaces/${this.#namespace}`, { name: this.#namespace });
    for (const resource of resources) this.#compareAnswer(await this.#put(resource));
    for (const step of steps) await this.#step(step);
    const settled = pass(settleMs);
    await this.#handled();
    await settled;
    this.#compare({ ...this.#scenario, ...ours });
  }

  async #step({ event, put, ...unknown }: PipelineScenario['steps'][number]): Promise<void> {
    if (put !== undefined) this.#compareAnswer(await this.#put(put));
    else if (event !== undefined) this.#compareAnswer(await this.#putEvent(event), 'answer to an event');
    else throw new Error(`unknown step ${JSON.stringify(unknown)}`);
  }

  #put([collection, body]: Resource): Promise<ApiAnswer> {
    const metadata = { ...(body['metadata'] as object), namespace: this.#namespace };
    const path = `/ns/${this.#namespace}/${collection}/${String(at(body, 'metadata', 'name'))}`;
    return this.#target.api.put(path, this.#filledIn({ ...body, metadata }));
  }

  #putEvent(event: Body): Promise<ApiAnswer> {
    const [entity, check] = [at(event, 'entity', 'metadata', 'name'), at(event, 'check', 'metadata', 'name')];
    return this.#target.api.put(
      `/ns/${this.#namespace}/events/${String(entity)}/${String(check)}`,
      this.#filledIn(event),
    );
  }

  #compareAnswer({ status, json, text }: ApiAnswer, what = `answer to ${this.#scenario.name}`): void {
    const recorded = this.#scenario.answers[this.#answered];
    this.#answered += 1;
    const expected = withException(this.#file, what, recorded);
    const found = difference(expected, { status, message: at(json, 'message') }, `answer ${this.#answered}`);
    if (found !== undefined) throw new Error(`${found}; answered ${text}`);
  }

  /** Waits for all handlers. Handlers of one event key run in order, so it sends one more event of each key and waits for those. */
  async #handled(): Promise<void> {
    const { last } = this.#target;
    const socket = { host: '127.0.0.1', port: last.port };
    await this.#put(['handlers', { type: 'tcp', socket, metadata: { name: LAST_HANDLER } }]);
    const events = this.#scenario.steps.flatMap(({ event }) => (event === undefined ? [] : [event]));
    for (const { entity, check } of events) {
      await this.#putEvent({ entity, check: { ...(check as object), handlers: [LAST_HANDLER] } });
    }
    const wait = { what: 'the end of all handlers', withinMs: RUN_WITHIN_MS };
    await eventually(
      () => last.events.length,
      (count) => count === events.length,
      wait,
    );
  }

  #compare({ ran, stdin, tcp = [], udp = [] }: Outcome): void {
    const { connections, datagrams } = this.#target.sinks;
    const order = (this.#written('order') ?? '').split('\n').slice(0, -1);
    const found =
      difference(ran, order, 'ran') ??
      this.#receivedDifference(tcp, connections, 'tcp') ??
      this.#receivedDifference(udp, datagrams, 'udp') ??
      this.#receivedDifference(
        Object.values(stdin),
        Object.keys(stdin).map((name) => this.#written(name)),
        'stdin',
      );
    if (found !== undefined) throw new Error(found);
  }

  #written(name: string): string | undefined {
    const path = join(this.#target.directory.path, name);
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  }

  /** Compares events as JSON, member by member, and other texts byte by byte. */
  #receivedDifference(
    expected: readonly string[],
    received: readonly (string | undefined)[],
    where: string,
  ): string | undefined {
    const wanted = expected.map((text) => this.#filledIn(this.#recordedText(text)));
    return exactDifference(wanted, received.map(parsedEvent), where);
  }

  #recordedText(text: string): unknown {
    const parsed = parsedEvent(text);
    return typeof parsed === 'object' ? withException(this.#file, 'event at a handler', parsed) : parsed;
  }

  #filledIn(value: unknown): unknown {
    const { directory, sinks } = this.#target;
    const text = JSON.stringify(value)
      .replaceAll('"{tcp}"', String(sinks.tcpPort))
      .replaceAll('"{udp}"', String(sinks.udpPort))
      .replaceAll('{ns}', this.#namespace)
      .replaceAll('{out}', directory.path)
      .replace(/\{x(\d+)\}/g, (_, count: string) => 'x'.repeat(Number(count)));
    return JSON.parse(text) as unknown;
  }
}

const parsedEvent = (text: string | undefined): unknown =>
  text?.startsWith('{"') === true ? (JSON.parse(text) as unknown) : text;

/** Waits in real time like the recording, so that an event that must not happen has time to happen. */
const pass = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

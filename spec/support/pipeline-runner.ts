import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiAnswer, ApiClient } from './api-client.ts';
import { ByteSinks } from './byte-sinks.ts';
import { eventually } from './eventually.ts';
import { readGolden } from './golden-file.ts';
import { difference, exactDifference } from './golden-match.ts';
import { withException } from './golden-exceptions.ts';
import { at } from './json-path.ts';
import { PipelineAgents, type RecordedKeepalive } from './pipeline-agents.ts';
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

interface RecordedAnswer {
  status: number;
  message?: string;
  /** Number of items of a list. */
  length?: number;
  /** Picked members; `<absent>` if they are absent. */
  body?: Body;
}

/** One of: an event, a resource, a wait of some ms, a GET, or an action of an agent. */
interface Step {
  event?: Body;
  put?: Resource;
  wait?: number;
  get?: string;
  pick?: string[];
  agent?: string;
  connect?: string[];
  keepalive?: RecordedKeepalive;
  send?: Body;
  close?: true;
}

export interface PipelineScenario extends Outcome {
  name: string;
  resources: Resource[];
  steps: Step[];
  answers: RecordedAnswer[];
  /** Waiting time for events that must not happen, or happen later. */
  settleMs?: number;
  /** `answers` has the status of a resource by its collection. */
  ours?: Partial<Outcome> & { answers?: Record<string, number> };
}

const RUN_WITHIN_MS = 20_000;
/** Time for a handler of an agent's event that must not run. */
const SETTLE_MS = 600;

/** Reads the scenarios of a recording; `file` is relative to `spec/golden`. */
export function readPipelineScenarios(file: string): PipelineScenario[] {
  return JSON.parse(readGolden(file)) as PipelineScenario[];
}

/** A backend with the recorded environment; `api` is logged in as the administrator. */
export interface PipelineBackend {
  api: ApiClient;
  agentPort: number;
}

/**
 * Replays a recorded scenario of the event pipeline in a namespace of its own.
 * @throws with file, scenario and the first difference
 */
export async function playPipeline(
  file: string,
  scenario: PipelineScenario,
  { api, agentPort }: PipelineBackend,
): Promise<void> {
  const [directory, sinks] = await Promise.all([temporaryDirectory(), ByteSinks.listen()]);
  const agents = new PipelineAgents(agentPort, namespaceOf(scenario));
  try {
    await new PipelineRunner(file, scenario, { api, agents, directory, sinks }).run();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${file} scenario ${scenario.name}: ${reason}`, { cause: error });
  } finally {
    agents.terminate();
    await sinks.close();
    await directory.remove();
  }
}

const namespaceOf = ({ name }: PipelineScenario): string => `ns-${name}`;

interface PipelineTarget {
  api: ApiClient;
  agents: PipelineAgents;
  /** Replaces `{out}` in the scenario. */
  directory: TemporaryDirectory;
  sinks: ByteSinks;
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
    this.#namespace = namespaceOf(scenario);
  }

  async run(): Promise<void> {
    const { name, resources, steps, settleMs = 0, ran, stdin, tcp, udp, ours } = this.#scenario;
    const expected = withException(this.#file, name, { ran, stdin, tcp, udp, ...ours }) as Outcome;
    await this.#target.api.put(`/api/core/v2/namespaces/${this.#namespace}`, { name: this.#namespace });
    for (const resource of resources) await this.#put(resource);
    for (const step of steps) await this.#step(step);
    const settled = pass(settleMs);
    if (steps.some(({ agent }) => agent !== undefined)) await this.#agentsHandled(expected.ran);
    else await this.#handled();
    await this.#arrived(expected);
    await settled;
    this.#compare(expected);
  }

  async #step({ event, put, wait, get, agent, ...rest }: Step): Promise<void> {
    if (put !== undefined) await this.#put(put);
    else if (event !== undefined) this.#compareAnswer(await this.#putEvent(event), 'answer to an event');
    else if (wait !== undefined) await pass(wait);
    else if (get !== undefined) await this.#get(get, rest.pick);
    else if (agent !== undefined) await this.#act(agent, rest);
    else throw new Error(`unknown step ${JSON.stringify(rest)}`);
  }

  async #act(agent: string, { connect, keepalive, send, close }: Step): Promise<void> {
    const { agents } = this.#target;
    if (connect !== undefined) await agents.connect(agent, connect);
    else if (keepalive !== undefined) await agents.keepalive(agent, this.#filledIn(keepalive));
    else if (send !== undefined) await agents.result(agent, this.#filledIn(send));
    else if (close === true) await agents.close(agent);
    else throw new Error(`unknown action of ${agent}`);
  }

  async #put([collection, body]: Resource): Promise<void> {
    const { name, ours } = this.#scenario;
    this.#compareAnswer(await this.#write([collection, body]), `answer to ${name}`, ours?.answers?.[collection]);
  }

  #write([collection, body]: Resource): Promise<ApiAnswer> {
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

  async #get(path: string, pick: readonly string[] = []): Promise<void> {
    const answer = await this.#target.api.get(`/ns/${this.#namespace}/${path}`);
    const { length, body } = this.#compareAnswer(answer, `answer to ${this.#scenario.name}`);
    const picked = Object.fromEntries(pick.map((name) => [name, at(answer.json, name) ?? '<absent>']));
    const found =
      difference(length, at(answer.json, 'length'), path) ??
      (body === undefined ? undefined : exactDifference(body, picked, path));
    if (found !== undefined) throw new Error(found);
  }

  /** Returns the recorded answer. */
  #compareAnswer({ status, json, text }: ApiAnswer, what: string, ourStatus?: number): RecordedAnswer {
    const recorded = this.#scenario.answers[this.#answered];
    if (recorded === undefined) throw new Error('more answers than recorded');
    this.#answered += 1;
    const isOverruled = what !== 'answer to an event' || recorded.status < 300;
    const expected = (isOverruled ? withException(this.#file, what, recorded) : recorded) as RecordedAnswer;
    const wanted = ourStatus === undefined ? expected : { status: ourStatus, message: '<string>' };
    const got = { status, message: at(json, 'message') };
    const compared = { status: wanted.status, message: wanted.message };
    const found = difference(compared, got, `answer ${this.#answered}`);
    if (found !== undefined) throw new Error(`${found}; answered ${text}`);
    return expected;
  }

  /** Waits until no handler of the namespace is still to be run, apart from those that are tried again, as the reference never does. */
  async #handled(): Promise<void> {
    const path = `/api/mon/v1/namespaces/${this.#namespace}/notifications?outcome=waiting`;
    await eventually(
      async () => {
        const { json, headers } = await this.#target.api.get(path);
        const pending = (json as unknown[]).filter((one) => at(one, 'state') !== 'retrying');
        return { pending: pending.length, isLast: headers['sensu-continue'] === undefined };
      },
      ({ pending, isLast }) => pending === 0 && isLast,
      { what: 'the end of all handlers', withinMs: RUN_WITHIN_MS },
    );
  }

  /** Waits until as many connections and datagrams as expected have arrived: their handlers are done when all is sent. */
  async #arrived({ tcp = [], udp = [] }: Outcome): Promise<void> {
    const { connections, datagrams } = this.#target.sinks;
    await eventually(
      () => connections.length >= tcp.length && datagrams.length >= udp.length,
      (haveArrived) => haveArrived,
      { what: 'what the handlers sent', withinMs: RUN_WITHIN_MS },
    );
  }

  /** Waits for the expected handlers of an agent's events, and for those that must not run. */
  async #agentsHandled(expected: readonly string[]): Promise<void> {
    const wait = { what: `handlers ${expected.join(', ')}`, withinMs: RUN_WITHIN_MS };
    await eventually(
      () => this.#order(),
      (order) => order.length >= expected.length,
      wait,
    );
    await pass(SETTLE_MS);
  }

  #compare({ ran, stdin, tcp = [], udp = [] }: Outcome): void {
    const { connections, datagrams } = this.#target.sinks;
    const handlers = Object.keys(stdin).filter((name) => ran.includes(name) || !this.#scenario.ran.includes(name));
    const found =
      difference(ran, this.#order(), 'ran') ??
      this.#receivedDifference(tcp, connections, 'tcp') ??
      this.#receivedDifference(udp, datagrams, 'udp') ??
      this.#receivedDifference(
        handlers.map((name) => stdin[name] ?? ''),
        handlers.map((name) => this.#written(name)),
        'stdin',
        handlers,
      );
    if (found !== undefined) throw new Error(found);
  }

  #order(): string[] {
    return (this.#written('order') ?? '').split('\n').slice(0, -1);
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
    handlers: readonly string[] = [],
  ): string | undefined {
    const wanted = expected.map((text, index) => this.#filledIn(this.#recordedText(text, handlers[index])));
    return exactDifference(wanted, received.map(parsedEvent), where);
  }

  #recordedText(text: string, handler = ''): unknown {
    const parsed = parsedEvent(text);
    if (typeof parsed !== 'object') return parsed;
    const event = withException(this.#file, 'event at a handler', parsed);
    return withException(this.#file, `${this.#scenario.name}, handler ${handler}`, event);
  }

  #filledIn<T>(value: T): T {
    const { directory, sinks } = this.#target;
    const text = JSON.stringify(value)
      .replaceAll('"{tcp}"', String(sinks.tcpPort))
      .replaceAll('"{udp}"', String(sinks.udpPort))
      .replaceAll('"{now}"', String(Math.floor(Date.now() / 1_000)))
      .replaceAll('{ns}', this.#namespace)
      .replaceAll('{out}', directory.path)
      .replace(/\{x(\d+)\}/g, (_, count: string) => 'x'.repeat(Number(count)));
    return JSON.parse(text) as T;
  }
}

const parsedEvent = (text: string | undefined): unknown =>
  text?.startsWith('{"') === true ? (JSON.parse(text) as unknown) : text;

/** Waits in real time like the recording, so that an event that must not happen has time to happen. */
const pass = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

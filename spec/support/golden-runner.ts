import { parseEventShape } from '../../src/resources/event.ts';
import { encodeFrame } from '../../src/wire/frame.ts';
import { decodeCheckRequest, decodeEntityConfig, encodeEvent } from '../../src/wire/protobuf-codec.ts';
import { AgentClient, type AgentFrame, jsonOf } from './agent-client.ts';
import type { ApiClient } from './api-client.ts';
import { eventually } from './eventually.ts';
import { readGolden } from './golden-file.ts';
import { difference } from './golden-match.ts';
import { withException } from './golden-exceptions.ts';
import { HandlerSink } from './handler-sink.ts';
import { rawRequest } from './raw-handshake.ts';

/** A step of a scenario file. Its members depend on `op`. */
interface Step {
  op: string;
  name?: string;
  only?: 'ours' | 'reference';
  expect?: unknown;
  ours?: unknown;
  as?: string;
  encoding?: 'json' | 'protobuf';
  headers?: Record<string, string>;
  method?: string;
  path?: string;
  lines?: string[];
  upgrade?: boolean;
  type?: string;
  json?: unknown;
  text?: string;
  opcode?: 'text';
  body?: unknown;
  /** Seconds, like all times in these files. */
  within?: number;
  after?: number;
  seconds?: number;
  frames?: number;
  entity?: string;
  check?: string;
  namespace?: string;
  until?: unknown;
  sink?: string;
  where?: unknown;
}

export interface Scenario {
  scenario: string;
  about: string;
  steps: Step[];
  /** Relative to `spec/golden`. */
  file: string;
}

/** The backend on which a scenario is replayed. `api` is logged in as the administrator. */
export interface ScenarioTarget {
  agentPort: number;
  api: ApiClient;
}

/** Reads a scenario; `file` is relative to `spec/golden`. */
export function readScenario(file: string): Scenario {
  return { ...(JSON.parse(readGolden(file)) as Omit<Scenario, 'file'>), file };
}

/** Replays a recorded scenario. @throws with file, step and op where the backend differs */
export async function play(scenario: Scenario, target: ScenarioTarget): Promise<void> {
  const runner = new GoldenRunner(target);
  try {
    for (const [index, step] of scenario.steps.entries()) {
      if (step.only === 'reference') continue;
      try {
        await runner.run({ ...step, expect: withException(scenario.file, index + 1, step.expect) });
      } catch (error) {
        const place = `${scenario.file} step ${index + 1} (${step.op}${step.name === undefined ? '' : `: ${step.name}`})`;
        throw new Error(`${place}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
      }
    }
  } finally {
    await runner.close();
  }
}

/** The recording waited 5 s, on an otherwise idle machine. */
const DEFAULT_WITHIN_S = 15;
const UNHANDLED_SECONDS = 0.7;
const POLL_MS = 5;

type Operation = (step: Step) => Promise<void>;

class GoldenRunner {
  readonly #target: ScenarioTarget;
  readonly #agents = new Map<string, AgentClient>();
  readonly #encodings = new Map<string, 'json' | 'protobuf'>();
  readonly #sinks = new Map<string, HandlerSink>();
  readonly #operations: Readonly<Record<string, Operation>> = {
    handshake: (step) => this.#handshake(step),
    connect: (step) => this.#connect(step),
    send: (step) => this.#send(step),
    frame: (step) => this.#frame(step),
    quiet: (step) => this.#quiet(step),
    ping: async (step) => void (await this.#agent(step).ping(textOf(step.body), withinMs(step))),
    open: (step) => this.#open(step),
    closed: async (step) => compare(step, await this.#agent(step).closed(withinMs(step))),
    disconnect: (step) => this.#agent(step).disconnect(),
    api: (step) => this.#api(step),
    stored: (step) => this.#found(step, `events/${step.entity ?? ''}/${step.check ?? ''}`),
    entity: (step) => this.#found(step, `entities/${step.entity ?? ''}`),
    absent: (step) => this.#absent(step),
    handled: (step) => this.#handled(step),
    unhandled: (step) => this.#unhandled(step),
    wait: (step) => pass(step.seconds),
  };

  constructor(target: ScenarioTarget) {
    this.#target = target;
  }

  async run(step: Step): Promise<void> {
    const operation = this.#operations[step.op];
    if (operation === undefined) throw new Error('unknown op');
    await operation(step);
  }

  async close(): Promise<void> {
    for (const agent of this.#agents.values()) agent.terminate();
    for (const sink of this.#sinks.values()) await sink.close();
  }

  #agent({ as = '' }: Step): AgentClient {
    const agent = this.#agents.get(as);
    if (agent === undefined) throw new Error(`no agent ${as} is connected`);
    return agent;
  }

  async #handshake({ method, path = '/', lines = [], upgrade = false, ...step }: Step): Promise<void> {
    const request = { path, lines, upgrade, ...(method === undefined ? {} : { method }) };
    const answer = await rawRequest(this.#target.agentPort, request);
    compare(step, { ...answer, 'backend-id': answer.headers['backend-id']?.length ?? 0 });
  }

  async #connect({ as = '', encoding, headers = {} }: Step): Promise<void> {
    this.#agents.get(as)?.terminate();
    this.#agents.set(as, await AgentClient.connectWith(this.#target.agentPort, headers));
    this.#encodings.set(as, encoding ?? 'json');
  }

  async #send(step: Step): Promise<void> {
    const agent = this.#agent(step);
    if (step.text !== undefined) {
      agent.sendRaw(step.text, step.opcode);
      return;
    }
    const value = await this.#filledIn(step.json);
    const { type = '', as = '' } = step;
    if (this.#encodings.get(as) === 'protobuf') agent.sendRaw(encodeFrame(type, encodeEvent(parseEventShape(value))));
    else agent.send(type, value, step.opcode);
  }

  async #frame(step: Step): Promise<void> {
    const frame = await this.#agent(step).nextFrame(withinMs(step));
    compare(step, described(frame, this.#encodings.get(step.as ?? '') ?? 'json'));
  }

  async #quiet(step: Step): Promise<void> {
    await pass(step.seconds);
    const agent = this.#agent(step);
    const arrived = [...agent.waitingFrames];
    while (agent.waitingFrames.length > 0) await agent.nextFrame();
    if (arrived.length !== step.frames) {
      throw new Error(`expected ${step.frames} messages, got ${arrived.map(({ raw }) => raw.toString()).join(' | ')}`);
    }
  }

  #open(step: Step): Promise<void> {
    if (!this.#agent(step).isOpen) throw new Error(`the connection of ${step.as} is closed`);
    return Promise.resolve();
  }

  async #api(step: Step): Promise<void> {
    const { method = 'GET', path = '', body } = step;
    const filledIn = body === undefined ? {} : { body: await this.#filledIn(body) };
    compare(step, await this.#target.api.request({ method, path, ...filledIn }));
  }

  async #found(step: Step, path: string): Promise<void> {
    const { namespace = 'default', until = {} } = step;
    const answer = await eventually(
      () => this.#target.api.get(`/ns/${namespace}/${path}`),
      ({ status, json }) => status === 200 && difference(until, json) === undefined,
      { what: `${path} as ${JSON.stringify(until)}`, withinMs: withinMs(step), everyMs: POLL_MS },
    );
    compare(step, answer.json);
  }

  async #absent({ path = '', after }: Step): Promise<void> {
    await pass(after);
    const { status, text } = await this.#target.api.get(path);
    if (status !== 404) throw new Error(`GET ${path} answered ${status} ${text}`);
  }

  async #sink(name = ''): Promise<HandlerSink> {
    const sink = this.#sinks.get(name) ?? (await HandlerSink.listen());
    this.#sinks.set(name, sink);
    return sink;
  }

  async #handled(step: Step): Promise<void> {
    const { events } = await this.#sink(step.sink);
    const matching = (): number => events.findIndex((event) => difference(step.where ?? {}, event) === undefined);
    const wait = { what: `an event at the handler ${step.sink}`, withinMs: withinMs(step), everyMs: POLL_MS };
    const index = await eventually(matching, (found) => found >= 0, wait);
    compare(step, events.splice(index, 1)[0]);
  }

  async #unhandled(step: Step): Promise<void> {
    const { events } = await this.#sink(step.sink);
    await pass(step.seconds ?? UNHANDLED_SECONDS);
    const handled = events.find((event) => difference(step.where ?? {}, event) === undefined);
    if (handled !== undefined) throw new Error(`the handler ${step.sink} got ${JSON.stringify(handled)}`);
  }

  /** Replaces `<now>` and `<now+N>` by Unix seconds and `<sink:NAME>` by the port of the sink. */
  async #filledIn(value: unknown): Promise<unknown> {
    if (typeof value === 'string') return this.#filledInText(value);
    if (Array.isArray(value)) return Promise.all(value.map((item) => this.#filledIn(item)));
    if (value === null || typeof value !== 'object') return value;
    const members = Object.entries(value).map(async ([name, member]) => [name, await this.#filledIn(member)] as const);
    return Object.fromEntries(await Promise.all(members));
  }

  async #filledInText(text: string): Promise<unknown> {
    const sink = /^<sink:(.+)>$/.exec(text)?.[1];
    if (sink !== undefined) return (await this.#sink(sink)).port;
    const nowS = Math.floor(Date.now() / 1000);
    const moment = (_: string, shift = '0'): string => String(nowS + Number(shift));
    if (/^<now([+-]\d+)?>$/.test(text)) return Number(text.replace(NOW, moment));
    return text.replace(NOW, moment);
  }
}

const NOW = /<now([+-]\d+)?>/g;

const withinMs = ({ within = DEFAULT_WITHIN_S }: Step): number => within * 1000;
const textOf = (body: unknown): string => (typeof body === 'string' ? body : '');

/** Waits in real time like the recording, so that an event that must not happen has time to happen. */
const pass = (seconds = 0): Promise<void> => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

function described(frame: AgentFrame, encoding: 'json' | 'protobuf'): unknown {
  const { type, binary, raw } = frame;
  return { type, binary, base64: raw.toString('base64'), json: encoding === 'json' ? jsonOf(frame) : decoded(frame) };
}

function decoded({ type, payload }: AgentFrame): unknown {
  return type === 'check_request' ? decodeCheckRequest(payload) : decodeEntityConfig(payload);
}

/** Compares with `ours` if the service differs on purpose, otherwise with `expect`. @throws with the first difference */
function compare({ expect = {}, ours = expect }: Step, actual: unknown): void {
  const found = difference(ours, actual);
  if (found !== undefined) throw new Error(found);
}

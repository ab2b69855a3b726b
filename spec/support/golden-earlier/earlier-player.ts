import { toEarlierStatus } from '../../../src/rules/earlier-status.ts';
import { InProcessAgent } from '../../agent/in-process-agent.ts';
import { EarlierClient, type EarlierAnswer } from '../earlier-client.ts';
import { eventually } from '../eventually.ts';
import { HandlerSink } from '../handler-sink.ts';
import { freePort } from '../free-port.ts';
import { tcp, udp } from '../golden-agent/local-clients.ts';
import type { InProcessBackend } from '../in-process-backend.ts';
import { at } from '../json-path.ts';
import { exceptionAt } from './earlier-exceptions.ts';
import {
  type EarlierRecording,
  expectedAnswer,
  type HandledEvent,
  type RecordedAnswer,
  type RecordedSend,
  type RecordedStep,
} from './earlier-recording.ts';
import { createRecorded } from './earlier-setup.ts';
import { LabelledMatch } from './labelled-match.ts';

const ALL = { from: '', to: '~' };
/** The time that passes between two attempts of a step that is repeated. */
const RETRY_MS = 500;
/** The same for an agent, which has a clock of its own. */
const AGENT_RETRY_MS = 100;
const SECOND_MS = 1_000;
/** The inputs of the agent. */
const OF_AGENT = new Set(['tcp', 'udp', 'agent-http']);
/** They depend on the connection only. */
const IGNORED_HEADERS = new Set(['connection', 'content-length']);

/** Replays a recording on a backend with a manual clock. @throws Error with the file and the step where the backend differs */
export async function playEarlier(recording: EarlierRecording, backend: InProcessBackend): Promise<void> {
  const [first] = await differencesOf(recording, backend, 1);
  if (first !== undefined) throw new Error(first);
}

/** Replays a recording to its end, and returns at most `limit` differences. */
export async function differencesOf(
  recording: EarlierRecording,
  backend: InProcessBackend,
  limit = Infinity,
): Promise<string[]> {
  const player = new EarlierPlayer(recording, backend);
  return player.play(limit);
}

class EarlierPlayer {
  readonly #recording: EarlierRecording;
  readonly #backend: InProcessBackend;
  readonly #core: EarlierClient;
  readonly #dashboard: EarlierClient;
  readonly #match = new LabelledMatch();
  #sink: HandlerSink | undefined;
  #agent: InProcessAgent | undefined;
  #agentPorts = { api: 0, socket: 0 };

  constructor(recording: EarlierRecording, backend: InProcessBackend) {
    this.#recording = recording;
    this.#backend = backend;
    this.#core = new EarlierClient(backend.earlierApiPort);
    this.#dashboard = new EarlierClient(backend.dashboardPort);
  }

  async play(limit: number): Promise<string[]> {
    const { file, steps } = this.#recording;
    const differences: string[] = [];
    try {
      await this.#setUp();
      for (const [index, step] of steps.entries()) {
        const { isSkipped = false, ...replaced } = exceptionAt(file, index);
        const difference = isSkipped ? undefined : await this.#run({ ...step, ...replaced });
        if (difference === undefined) continue;
        differences.push(`${file} step ${index} ${JSON.stringify(step.send ?? {})}: ${difference}`);
        if (differences.length >= limit) return differences;
      }
      return differences;
    } finally {
      this.#core.close();
      this.#dashboard.close();
      await this.#agent?.kill();
      await this.#sink?.close();
    }
  }

  async #setUp(): Promise<void> {
    const { setup } = this.#recording;
    if ((setup.handlers ?? []).length > 0) this.#sink = await HandlerSink.listen();
    await createRecorded(await this.#backend.login(), setup, this.#sink?.port);
    if (setup.agent === undefined) return;
    const { name, subscriptions } = setup.agent;
    const url = `ws://127.0.0.1:${this.#backend.agentPort}`;
    this.#agentPorts = { api: await freePort(), socket: await freePort() };
    const { api, socket } = this.#agentPorts;
    const listen = [`--api-port=${api}`, `--socket-port=${socket}`, `--subscriptions=${subscriptions.join(',')}`];
    this.#agent = InProcessAgent.start(url, '--name', name, ...listen);
    await eventually(
      () => this.#core.get(`/clients/${name}`),
      ({ status }) => status === 200,
      { what: 'the agent' },
    );
  }

  async #run(step: RecordedStep): Promise<string | undefined> {
    if (step.send !== undefined) return this.#exchange(step, step.send);
    if (step.handled !== undefined) return this.#handled(step, step.handled);
    // What was posted is durable when it is answered.
    if (step.sleep_ms !== undefined) await this.#pass(step.sleep_ms);
    if (step.settle !== undefined && this.#agent !== undefined) await this.#pass(AGENT_RETRY_MS);
    return undefined;
  }

  /** Lets time pass on the clock of the backend, and a part of it on that of the agent. */
  async #pass(ms: number): Promise<void> {
    if (this.#agent === undefined) return this.#backend.clock.advance(ms);
    await new Promise((resolve) => void setTimeout(resolve, AGENT_RETRY_MS));
    // Two requests of one check within a second would be the same to the agent.
    await this.#backend.clock.advance(Math.max(AGENT_RETRY_MS, SECOND_MS));
  }

  /** Sends a request, again while the time of the step has not passed. */
  async #exchange(step: RecordedStep, send: RecordedSend): Promise<string | undefined> {
    const expected = expectedAnswer(step);
    for (let leftMs = step.within_ms ?? 0; ; leftMs -= RETRY_MS) {
      const difference = this.#difference(expected, await this.#send(send));
      if (difference === undefined || leftMs <= 0) return difference;
      await this.#pass(RETRY_MS);
    }
  }

  #send(send: RecordedSend): Promise<EarlierAnswer> {
    if (send.raw !== undefined) return this.#core.sendBytes(send.raw);
    if (OF_AGENT.has(send.to)) return this.#toAgent(send);
    if (send.to === 'dash') return this.#dashboard.send(send);
    const { datacenters } = this.#recording.setup;
    const dc = Object.entries(datacenters ?? { default: 'core' }).find(([, target]) => target === send.to)?.[0];
    if (dc === undefined) throw new Error(`a request to ${send.to} cannot be replayed`);
    return this.#core.send(datacenters === undefined ? send : toDatacenter(send, dc));
  }

  async #toAgent(send: RecordedSend): Promise<EarlierAnswer> {
    const { to, method, path, text = '', chunks = [text], ...options } = send;
    const port = this.#agentPorts[to === 'agent-http' ? 'api' : 'socket'];
    if (to === 'agent-http') return new EarlierClient(port).send({ method, path, text, headers: send.headers ?? {} });
    const nothing = { status: 0, headers: {}, json: undefined };
    if (to === 'tcp') return { ...nothing, text: (await tcp(port, { half_close: false, ...options, chunks })).text };
    await udp(port, chunks);
    return { ...nothing, text: '' };
  }

  #difference(expected: RecordedAnswer, answer: EarlierAnswer): string | undefined {
    const { status, headers = {}, body, text, unordered, raw_first_line: firstLine } = expected;
    if (firstLine !== undefined) return this.#match.difference(firstLine, answer.text.split('\r\n', 1)[0]);
    const inStatus = status === undefined ? undefined : this.#match.difference(status, answer.status);
    if (inStatus !== undefined) return `status: ${inStatus} ${answer.text}`;
    for (const [name, value] of Object.entries(headers)) {
      if (IGNORED_HEADERS.has(name.toLowerCase())) continue;
      const found = this.#match.difference(value, answer.headers[name.toLowerCase()] ?? null);
      if (found !== undefined) return `header ${name}: ${found}`;
    }
    if (text !== undefined && text !== answer.text) return `text: expected ${text}, got ${answer.text}`;
    return body === undefined ? undefined : this.#match.difference(body, answer.json, unordered);
  }

  /** Compares the runs of the handler, after all that are due have ended. */
  async #handled({ ours }: RecordedStep, recorded: readonly HandledEvent[]): Promise<string | undefined> {
    await eventually(
      () => [...this.#backend.store.keys('outbox', ALL)].length,
      (count) => count === 0,
      { what: 'the end of all runs' },
    );
    const runs = (this.#sink?.events.splice(0) ?? []).map(handledEvent);
    return this.#match.difference(ours?.handled ?? recorded, runs, true);
  }
}

/** A request to the server of one datacenter, for a server that has all of them. */
function toDatacenter(send: RecordedSend, dc: string): RecordedSend {
  const path = `${send.path}${send.path.includes('?') ? '&' : '?'}dc=${dc}`;
  const { body } = send;
  return body === undefined ? { ...send, path } : { ...send, path, body: { ...(body as object), dc } };
}

function handledEvent(event: unknown): HandledEvent {
  const status = Number(at(event, 'check', 'status'));
  const isFlapping = at(event, 'check', 'state') === 'flapping';
  return {
    client: String(at(event, 'entity', 'metadata', 'name')),
    check: String(at(event, 'check', 'metadata', 'name')),
    action: isFlapping ? 'flapping' : status === 0 ? 'resolve' : 'create',
    status: toEarlierStatus(status),
    occurrences: Number(at(event, 'check', 'occurrences')),
  };
}

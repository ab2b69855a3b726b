import type { RunningAgent } from '../agent/in-process-agent.ts';
import type { FakeBackend, FakeSession } from '../agent/fake-backend.ts';
import { encodeFrame } from '../../src/wire/frame.ts';
import { eventually } from './eventually.ts';
import { readGolden } from './golden-file.ts';
import { difference } from './golden-match.ts';
import { withException } from './golden-exceptions.ts';
import { http, udp } from './golden-agent/local-clients.ts';
import { at } from './json-path.ts';

interface Entry {
  dir: 'handshake' | 'to-agent' | 'from-agent' | 'nothing-from-agent' | 'note' | 'close';
  type?: string;
  note?: string;
  json?: unknown;
  /** The whole frame. */
  base64?: string;
  headers?: [name: string, value: string][];
  close?: { code: number; reason: string };
  code?: number;
  reason?: string;
}

/** Name of the recordings of both encodings in the exceptions. */
const RECORDING = 'wire/real-agent';
/** Headers whose values differ between agent programs. */
const HEADERS_OF_THE_PROGRAM = new Set(['host', 'user-agent']);
const WITHIN_MS = 20_000;

/** What local clients of the recorded agent sent, by the note of the event that followed. */
const LOCAL_CLIENTS: Readonly<Record<string, (ports: LocalPorts) => unknown>> = {
  'event posted to the local API': ({ api }) =>
    http(api, 'POST', '/events', {
      check: { metadata: { name: 'posted' }, status: 2, output: 'by api', handlers: ['h'], interval: 10, ttl: 60 },
    }),
  'event sent to the UDP socket': ({ sockets }) =>
    udp(sockets, [{ name: 'sock', output: 'by udp', status: 1, source: 'ra-src', handler: 'x' }]),
  StatsD: ({ statsd }) => udp(statsd, ['hits:1|c', 'hits:2|c', 'load:1.5|g|#env:prod']),
};

/** Both ends of the connection. The agent is configured like the recorded one. */
export interface TranscriptTarget {
  backend: FakeBackend;
  agent: RunningAgent;
  /** The ports of its local inputs. */
  ports: LocalPorts;
}

export interface LocalPorts {
  readonly api: number;
  readonly sockets: number;
  readonly statsd: number;
}

/**
 * Sends an agent the recorded frames and compares its frames with those of the recorded agent, in order. `file` is relative to
 * `spec/golden`. @throws with file and entry
 */
export async function playTranscript(file: string, target: TranscriptTarget): Promise<void> {
  const { transcript } = JSON.parse(readGolden(file)) as { transcript: Entry[] };
  const reader = new TranscriptReader(target, transcript);
  for (const [index, entry] of transcript.entries()) {
    try {
      await reader.play(entry, index + 1);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`${file} entry ${index + 1} (${entry.note ?? entry.type ?? entry.dir}): ${reason}`, {
        cause: error,
      });
    }
  }
}

const unredacted = (json: unknown): unknown =>
  JSON.parse(JSON.stringify(json), (_, value: unknown) =>
    value === 'REDACTED' ? withException(RECORDING, 'redacted label', value) : value,
  );

/** Hooks in Protobuf have their definition in a field of its own. */
function withFlatHooks(json: unknown): unknown {
  const hooks = at(json, 'check', 'hooks');
  if (!Array.isArray(hooks)) return json;
  const flat = (hooks as { config?: object }[]).map(({ config, ...result }) => ({ ...config, ...result }));
  return { ...(json as object), check: { ...(at(json, 'check') as object), hooks: flat } };
}

class TranscriptReader {
  readonly #target: TranscriptTarget;
  /** The first frame that the backend sends on each connection. */
  readonly #firstFrame: Entry | undefined;
  #sessions = 0;
  /** Number of compared frames of the session, by type. */
  #compared = new Map<string, number>();
  #issuedS = Math.floor(Date.now() / 1_000);

  constructor(target: TranscriptTarget, transcript: readonly Entry[]) {
    this.#target = target;
    this.#firstFrame = transcript.find(({ dir }) => dir === 'to-agent');
  }

  async play(entry: Entry, number: number): Promise<void> {
    if (entry.dir === 'handshake') await this.#handshake(entry);
    else if (entry.dir === 'to-agent') this.#send(entry);
    else if (entry.dir === 'from-agent') {
      await LOCAL_CLIENTS[entry.note ?? '']?.(this.#target.ports);
      await this.#receive(entry, number);
    } else if (entry.dir === 'close') await this.#stopAgent(entry);
    else if (entry.close !== undefined) await this.#sendBrokenFrame(entry.close, number);
    // `nothing-from-agent` needs no check: a frame would differ from the next entry, because frames are compared in order.
  }

  get #session(): FakeSession {
    const session = this.#target.backend.current;
    if (session === undefined) throw new Error('no agent is connected');
    return session;
  }

  async #handshake({ headers = [] }: Entry): Promise<void> {
    this.#sessions += 1;
    const wait = { what: `session ${this.#sessions}`, withinMs: WITHIN_MS };
    await eventually(() => this.#target.backend.sessions.length === this.#sessions, Boolean, wait);
    const recorded = headers.map(([name, value]) => [name.toLowerCase(), value] as const);
    const expected = Object.fromEntries(recorded.filter(([name]) => !HEADERS_OF_THE_PROGRAM.has(name)));
    const found = difference(expected, this.#session.headers, 'headers');
    if (found !== undefined) throw new Error(found);
    this.#compared.clear();
    if (this.#sessions > 1 && this.#firstFrame !== undefined) this.#send(this.#firstFrame);
  }

  #send({ type = '', json, base64, note = '' }: Entry): void {
    if (/equal issued/.test(note)) this.#issuedS -= 1;
    if (/older issued/.test(note)) this.#issuedS -= 2;
    const payload = JSON.stringify(json).replace('"issued":"<unix>"', `"issued":${this.#issuedS}`);
    this.#issuedS += 1;
    this.#session.socket.send(base64 === undefined ? encodeFrame(type, payload) : Buffer.from(base64, 'base64'));
  }

  /** Compares results one after the other. A keepalive may have been sent before, so the first matching one is taken. */
  async #receive({ type = '', json }: Entry, number: number): Promise<void> {
    const expected = withException(RECORDING, number, withException(RECORDING, type, withFlatHooks(unredacted(json))));
    const compare = (): string | undefined => {
      const taken = this.#compared.get(type) ?? 0;
      const frames = this.#session.frames.filter((frame) => frame.type === type).slice(taken);
      const differences = frames.map(({ body }) => difference(expected, body, type));
      const matching = differences.indexOf(undefined);
      if (matching < 0 || (matching > 0 && type === 'event')) return differences[0] ?? `no ${type} received`;
      this.#compared.set(type, taken + matching + 1);
      return undefined;
    };
    await eventually(compare, (found) => found === undefined, { what: `the ${type} as recorded`, withinMs: WITHIN_MS });
  }

  async #sendBrokenFrame(close: { code: number; reason: string }, number: number): Promise<void> {
    const session = this.#session;
    session.socket.send('no line feed');
    await this.#closed(session, withException(RECORDING, number, close));
  }

  async #stopAgent({ code, reason }: Entry): Promise<void> {
    const session = this.#session;
    await this.#target.agent.stop();
    await this.#closed(session, { code, reason });
  }

  async #closed(session: FakeSession, expected: unknown): Promise<void> {
    const wait = { what: 'the close frame', withinMs: WITHIN_MS };
    const closed = await eventually(() => session.closed, Boolean, wait);
    const found = difference(expected, closed, 'close');
    if (found !== undefined) throw new Error(found);
  }
}

import type { AgentProcess } from '../agent/agent-process.ts';
import type { PlayedBackend, PlayedSession } from '../agent/played-backend.ts';
import { encodeFrame } from '../../src/wire/frame.ts';
import { eventually } from './eventually.ts';
import { readGolden } from './golden-file.ts';
import { difference } from './golden-match.ts';
import { withException } from './golden-exceptions.ts';
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

/** Overruled alike in both encodings. */
const RECORDING = 'wire/real-agent';
/** An agent of another program and language says the same in headers of its own. */
const HEADERS_OF_THE_PROGRAM = new Set(['host', 'user-agent']);
const WITHIN_MS = 10_000;

/** Both ends of the connection; the agent is configured as the recorded one was. */
export interface TranscriptTarget {
  backend: PlayedBackend;
  agent: AgentProcess;
}

/**
 * Says to an agent what a recorded one was told, and compares what it says with what that one said, in order. Requests of the checks
 * in `leftOut`, and their results, are passed over. `file` is relative to `spec/golden`. @throws naming file and entry
 */
export async function playTranscript(
  file: string,
  stage: TranscriptTarget,
  leftOut: ReadonlySet<string>,
): Promise<void> {
  const { transcript } = JSON.parse(readGolden(file)) as { transcript: Entry[] };
  const reader = new TranscriptReader(stage, transcript);
  for (const [index, entry] of transcript.entries()) {
    if (leftOut.has(checkOf(entry))) continue;
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

/** The check that is asked for, or whose result it is; '' for other entries, and `metrics` without a check. */
function checkOf({ type, json }: Entry): string {
  const part = { check_request: 'config', event: 'check' }[type ?? ''];
  const name = part === undefined ? '' : at(json, part, 'metadata', 'name');
  return typeof name === 'string' ? name : 'metrics';
}

const unredacted = (json: unknown): unknown =>
  JSON.parse(JSON.stringify(json), (_, value: unknown) =>
    value === 'REDACTED' ? withException(RECORDING, 'redacted label', value) : value,
  );

class TranscriptReader {
  readonly #stage: TranscriptTarget;
  /** What an agent is told first on each connection. */
  readonly #welcome: Entry | undefined;
  #sessions = 0;
  /** Frames of the session that were compared, of each type. */
  #taken = new Map<string, number>();
  #issuedS = Math.floor(Date.now() / 1_000);

  constructor(stage: TranscriptTarget, transcript: readonly Entry[]) {
    this.#stage = stage;
    this.#welcome = transcript.find(({ dir }) => dir === 'to-agent');
  }

  async play(entry: Entry, number: number): Promise<void> {
    if (entry.dir === 'handshake') await this.#handshake(entry);
    else if (entry.dir === 'to-agent') this.#tell(entry);
    else if (entry.dir === 'from-agent') await this.#heard(entry, number);
    else if (entry.dir === 'close') await this.#stopped(entry);
    else if (entry.close !== undefined) await this.#broken(entry.close, number);
    // That nothing came is shown by the next entry: what comes is compared in order.
  }

  get #session(): PlayedSession {
    const session = this.#stage.backend.current;
    if (session === undefined) throw new Error('no agent is connected');
    return session;
  }

  async #handshake({ headers = [] }: Entry): Promise<void> {
    this.#sessions += 1;
    const wait = { what: `session ${this.#sessions}`, withinMs: WITHIN_MS };
    await eventually(() => this.#stage.backend.sessions.length === this.#sessions, Boolean, wait);
    const said = headers.map(([name, value]) => [name.toLowerCase(), value] as const);
    const expected = Object.fromEntries(said.filter(([name]) => !HEADERS_OF_THE_PROGRAM.has(name)));
    const found = difference(expected, this.#session.headers, 'headers');
    if (found !== undefined) throw new Error(found);
    this.#taken.clear();
    if (this.#sessions > 1 && this.#welcome !== undefined) this.#tell(this.#welcome);
  }

  #tell({ type = '', json, base64, note = '' }: Entry): void {
    if (/equal issued/.test(note)) this.#issuedS -= 1;
    if (/older issued/.test(note)) this.#issuedS -= 2;
    const payload = JSON.stringify(json).replace('"issued":"<unix>"', `"issued":${this.#issuedS}`);
    this.#issuedS += 1;
    this.#session.socket.send(base64 === undefined ? encodeFrame(type, payload) : Buffer.from(base64, 'base64'));
  }

  /** Results are compared one after the other. A keepalive may have been on its way already: the first that fits is taken. */
  async #heard({ type = '', json }: Entry, number: number): Promise<void> {
    const expected = withException(RECORDING, number, withException(RECORDING, type, unredacted(json)));
    const ask = (): string | undefined => {
      const taken = this.#taken.get(type) ?? 0;
      const frames = this.#session.frames.filter((frame) => frame.type === type).slice(taken);
      const differences = frames.map(({ body }) => difference(expected, body, type));
      const fitting = differences.indexOf(undefined);
      if (fitting < 0 || (fitting > 0 && type === 'event')) return differences[0] ?? `no ${type} came`;
      this.#taken.set(type, taken + fitting + 1);
      return undefined;
    };
    await eventually(ask, (found) => found === undefined, { what: `the ${type} as recorded`, withinMs: WITHIN_MS });
  }

  async #broken(close: { code: number; reason: string }, number: number): Promise<void> {
    const session = this.#session;
    session.socket.send('no line feed');
    await this.#closed(session, withException(RECORDING, number, close));
  }

  async #stopped({ code, reason }: Entry): Promise<void> {
    const session = this.#session;
    await this.#stage.agent.stop();
    await this.#closed(session, { code, reason });
  }

  async #closed(session: PlayedSession, expected: unknown): Promise<void> {
    const wait = { what: 'the close frame', withinMs: WITHIN_MS };
    const closed = await eventually(() => session.closed, Boolean, wait);
    const found = difference(expected, closed, 'close');
    if (found !== undefined) throw new Error(found);
  }
}

import type { IncomingMessage } from 'node:http';
import type { SecureContextOptions } from 'node:tls';
import { WebSocket } from 'ws';
import { decodeFrame, encodeFrame } from '../../src/wire/frame.ts';
import { basicHeader, type Credentials } from '../../src/wire/handshake.ts';
import { eventually, inTime, PATIENCE_MS } from './eventually.ts';

export const AGENT: Credentials = { username: 'agent', password: 'P@ssw0rd!' };

export interface AgentOptions {
  name: string;
  namespace?: string;
  subscriptions?: readonly string[];
  credentials?: Credentials;
  /** UUID of the agent's queue. If set, the agent asks for acknowledgements. */
  queueId?: string;
  /** Headers added to the usual ones; a header of the same name replaces the usual one. */
  headers?: Record<string, string>;
  /** Whether the agent answers pings; the default is true. */
  answersPings?: boolean;
  /** If set, the agent connects with TLS and these options. */
  tls?: SecureContextOptions | undefined;
}

export interface AgentFrame {
  type: string;
  binary: boolean;
  /** The whole message as received. */
  raw: Buffer;
  payload: Buffer;
}

export const jsonOf = (frame: AgentFrame): unknown => JSON.parse(frame.payload.toString()) as unknown;

export interface CloseFrame {
  code: number;
  reason: string;
}

/** The backend answered a handshake with a status other than 101. */
export class HandshakeRefused extends Error {
  readonly status: number;
  readonly body: string;

  constructor(status: number, body: string) {
    super(`handshake refused: ${status} ${body}`);
    this.status = status;
    this.body = body;
  }
}

/** Calls `refused` if the handshake fails: with a `HandshakeRefused` if there is an answer, otherwise with the socket's error. */
export function onceRefused(socket: WebSocket, refused: (error: Error) => void): void {
  socket.once('unexpected-response', (_request, response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('end', () => {
      refused(new HandshakeRefused(response.statusCode ?? 0, Buffer.concat(chunks).toString()));
    });
  });
  socket.once('error', refused);
}

export function agentHeaders(options: AgentOptions): Record<string, string> {
  const { name, namespace = 'default', subscriptions = [], credentials = AGENT, queueId, headers = {} } = options;
  return {
    'Sensu-AgentName': name,
    'Sensu-Namespace': namespace,
    'Sensu-Subscriptions': subscriptions.join(','),
    'Sensu-User': credentials.username,
    Authorization: basicHeader(credentials),
    Accept: 'application/json',
    ...(queueId === undefined ? {} : { 'Mon-Ack': '1', 'Mon-Queue': queueId }),
    ...headers,
  };
}

/** A client of the agent port that sends and receives frames in JSON. It does nothing by itself except answer pings. */
export class AgentClient {
  /** All header lines of the 101 answer, with names in lower case. */
  readonly headerLines: readonly { name: string; value: string }[];
  /** Bodies of all pongs, in order. */
  readonly pongs: string[] = [];
  readonly #socket: WebSocket;
  readonly #frames: AgentFrame[];
  #close: CloseFrame | undefined;

  private constructor(socket: WebSocket, response: IncomingMessage, frames: AgentFrame[]) {
    this.#socket = socket;
    this.#frames = frames;
    const raw = response.rawHeaders;
    this.headerLines = raw.flatMap((text, index) =>
      index % 2 === 0 ? [{ name: text.toLowerCase(), value: raw[index + 1] ?? '' }] : [],
    );
    socket.on('pong', (body: Buffer) => this.pongs.push(body.toString()));
    socket.on('close', (code, reason) => {
      this.#close = { code, reason: reason.toString() };
    });
    // A reset shows as close code 1006.
    socket.on('error', () => undefined);
  }

  /** @throws HandshakeRefused */
  static async connect(port: number, options: AgentOptions): Promise<AgentClient> {
    return AgentClient.connectWith(port, agentHeaders(options), options);
  }

  /** Connects with exactly these headers. @throws HandshakeRefused */
  static async connectWith(
    port: number,
    headers: Record<string, string>,
    { answersPings = true, tls }: Pick<AgentOptions, 'answersPings' | 'tls'> = {},
  ): Promise<AgentClient> {
    const socket = new WebSocket(`${tls === undefined ? 'ws' : 'wss'}://127.0.0.1:${port}/`, {
      ...tls,
      headers,
      autoPong: answersPings,
      perMessageDeflate: false,
    });
    // The first frame may come in the same packet as the 101.
    const frames: AgentFrame[] = [];
    socket.on('message', (message, binary) => frames.push(frameOf(message, binary)));
    const promise = new Promise<AgentClient>((resolve, reject) => {
      socket.once('upgrade', (response) => {
        const agent = new AgentClient(socket, response, frames);
        socket.once('open', () => {
          resolve(agent);
        });
      });
      onceRefused(socket, reject);
    });
    return inTime(promise, '101 of a handshake');
  }

  header(name: string): string[] {
    return this.headerLines.filter((line) => line.name === name).map((line) => line.value);
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  /** Sends `<type> LF <json>` as a binary message, like real agents, or as text. */
  send(type: string, value: unknown, opcode: 'binary' | 'text' = 'binary'): void {
    this.sendRaw(encodeFrame(type, JSON.stringify(value)), opcode);
  }

  /** Sends a message unchanged. */
  sendRaw(message: string | Buffer, opcode: 'binary' | 'text' = 'binary'): void {
    this.#socket.send(message, { binary: opcode === 'binary' });
  }

  /** Sends one message in several WebSocket frames. */
  sendInFragments(parts: readonly string[]): void {
    for (const [index, part] of parts.entries()) {
      this.#socket.send(part, { binary: true, fin: index === parts.length - 1 });
    }
  }

  /** Takes the oldest unread message, or waits for one. @throws if the backend closes the connection first */
  async nextFrame(withinMs = PATIENCE_MS): Promise<AgentFrame> {
    const wait = { what: 'a message of the backend', withinMs, everyMs: 2 };
    await eventually(() => this.#frames.length > 0 || this.#close, Boolean, wait);
    const frame = this.#frames.shift();
    if (frame === undefined) throw new Error(`closed with ${JSON.stringify(this.#close)} instead of a message`);
    return frame;
  }

  /** Takes the next message and returns its payload. @throws if it is of another type */
  async next(type: string, withinMs = PATIENCE_MS): Promise<unknown> {
    const frame = await this.nextFrame(withinMs);
    if (frame.type !== type) throw new Error(`got ${frame.raw.toString()} instead of ${type}`);
    return jsonOf(frame);
  }

  /** Messages that were received and not taken. */
  get waitingFrames(): readonly AgentFrame[] {
    return this.#frames;
  }

  /** Sends a ping and returns the milliseconds until the pong with the same body. */
  async ping(body = '', withinMs = PATIENCE_MS): Promise<number> {
    const beganMs = performance.now();
    let onPong: ((answer: Buffer) => void) | undefined;
    const promise = new Promise<number>((resolve) => {
      onPong = (answer) => {
        if (answer.toString() === body) resolve(performance.now() - beganMs);
      };
      this.#socket.on('pong', onPong);
    });
    try {
      this.#socket.ping(body);
      return await inTime(promise, `pong ${body}`, withinMs);
    } finally {
      if (onPong !== undefined) this.#socket.off('pong', onPong);
    }
  }

  /** Waits for the close frame. */
  async closed(withinMs = PATIENCE_MS): Promise<CloseFrame> {
    const close = await eventually(
      () => this.#close,
      (frame) => frame !== undefined,
      { what: 'the close frame', withinMs, everyMs: 2 },
    );
    return close ?? { code: 0, reason: '' };
  }

  /** Closes the connection as an agent does when it stops. */
  async disconnect(code = 1001, reason = 'bye'): Promise<void> {
    this.#socket.close(code, reason);
    await this.closed();
  }

  /** Drops the connection without a close frame. */
  terminate(): void {
    this.#socket.terminate();
  }
}

function frameOf(message: Buffer | ArrayBuffer | Buffer[], binary: boolean): AgentFrame {
  const raw = Array.isArray(message) ? Buffer.concat(message) : Buffer.from(message as Buffer);
  return { ...decodeFrame(raw), binary, raw };
}

import type { IncomingMessage } from 'node:http';
import type { SecureContextOptions } from 'node:tls';
import { WebSocket } from 'ws';
import { decodeFrame, encodeFrame } from '../../src/wire/frame.ts';
import { basicHeader, type Credentials } from '../../src/wire/handshake.ts';
import { eventually, inTime } from './eventually.ts';

export const AGENT: Credentials = { username: 'agent', password: 'P@ssw0rd!' };

export interface AgentOptions {
  name: string;
  namespace?: string;
  subscriptions?: readonly string[];
  credentials?: Credentials;
  /** The UUID of its queue: asks for acknowledgements. */
  queueId?: string;
  /** Added to the usual ones, or replacing them. */
  headers?: Record<string, string>;
  /** Whether pings of the backend are answered; true unless said otherwise. */
  answersPings?: boolean;
  /** Speaks TLS, by these options. */
  tls?: SecureContextOptions | undefined;
}

export interface AgentFrame {
  type: string;
  binary: boolean;
  /** As it was on the wire. */
  raw: Buffer;
  payload: Buffer;
}

export const jsonOf = (frame: AgentFrame): unknown => JSON.parse(frame.payload.toString()) as unknown;

export interface CloseFrame {
  code: number;
  reason: string;
}

/** The backend answered a handshake with something else than 101. */
export class HandshakeRefused extends Error {
  readonly status: number;
  readonly body: string;

  constructor(status: number, body: string) {
    super(`handshake refused: ${status} ${body}`);
    this.status = status;
    this.body = body;
  }
}

/** Tells of a handshake that fails, by a `HandshakeRefused` where there is an answer to it. */
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

/** An agent as the backend sees one: a WebSocket that speaks frames in JSON. It does nothing by itself but answer pings. */
export class AgentClient {
  /** Every header line of the 101, names in lower case. */
  readonly headerLines: readonly { name: string; value: string }[];
  /** Bodies of the pongs nobody asked for or waits for, in order. */
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
    // A reset is seen as close code 1006.
    socket.on('error', () => undefined);
  }

  /** @throws HandshakeRefused */
  static async connect(port: number, options: AgentOptions): Promise<AgentClient> {
    return AgentClient.connectWith(port, agentHeaders(options), options);
  }

  /** With exactly these headers. @throws HandshakeRefused */
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
    return inTime(promise, '101 of a handshake', 15_000);
  }

  header(name: string): string[] {
    return this.headerLines.filter((line) => line.name === name).map((line) => line.value);
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  /** Sends `<type> LF <json>`, binary as real agents do unless said otherwise. */
  send(type: string, value: unknown, opcode: 'binary' | 'text' = 'binary'): void {
    this.sendRaw(encodeFrame(type, JSON.stringify(value)), opcode);
  }

  /** A whole message as it is. */
  sendRaw(message: string | Buffer, opcode: 'binary' | 'text' = 'binary'): void {
    this.#socket.send(message, { binary: opcode === 'binary' });
  }

  /** One message in several frames of the WebSocket. */
  sendInFragments(parts: readonly string[]): void {
    for (const [index, part] of parts.entries()) {
      this.#socket.send(part, { binary: true, fin: index === parts.length - 1 });
    }
  }

  /** The oldest message that nobody has taken yet. */
  async nextFrame(withinMs = 5_000): Promise<AgentFrame> {
    const wait = { what: 'a message of the backend', withinMs, everyMs: 2 };
    await eventually(() => this.#frames.length > 0 || this.#close, Boolean, wait);
    const frame = this.#frames.shift();
    if (frame === undefined) throw new Error(`closed with ${JSON.stringify(this.#close)} instead of a message`);
    return frame;
  }

  /** The next message, which must be of this type; its payload. */
  async next(type: string, withinMs = 5_000): Promise<unknown> {
    const frame = await this.nextFrame(withinMs);
    if (frame.type !== type) throw new Error(`got ${frame.raw.toString()} instead of ${type}`);
    return jsonOf(frame);
  }

  /** Messages that nobody has taken yet. */
  get waitingFrames(): readonly AgentFrame[] {
    return this.#frames;
  }

  /** Resolves with the round trip in milliseconds when the pong with the same body has come. */
  async ping(body = '', withinMs = 5_000): Promise<number> {
    const beganMs = performance.now();
    let heard: ((answer: Buffer) => void) | undefined;
    const promise = new Promise<number>((resolve) => {
      heard = (answer) => {
        if (answer.toString() === body) resolve(performance.now() - beganMs);
      };
      this.#socket.on('pong', heard);
    });
    try {
      this.#socket.ping(body);
      return await inTime(promise, `pong ${body}`, withinMs);
    } finally {
      if (heard !== undefined) this.#socket.off('pong', heard);
    }
  }

  async closed(withinMs = 5_000): Promise<CloseFrame> {
    const close = await eventually(
      () => this.#close,
      (frame) => frame !== undefined,
      { what: 'the close frame', withinMs, everyMs: 2 },
    );
    return close ?? { code: 0, reason: '' };
  }

  /** Leaves as an agent does. */
  async disconnect(code = 1001, reason = 'bye'): Promise<void> {
    this.#socket.close(code, reason);
    await this.closed();
  }

  /** Lets the connection drop. */
  terminate(): void {
    this.#socket.terminate();
  }
}

function frameOf(message: Buffer | ArrayBuffer | Buffer[], binary: boolean): AgentFrame {
  const raw = Array.isArray(message) ? Buffer.concat(message) : Buffer.from(message as Buffer);
  return { ...decodeFrame(raw), binary, raw };
}

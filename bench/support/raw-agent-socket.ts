import { connect, type Socket } from 'node:net';
import { MEDIA_TYPE_JSON } from '../../src/wire/handshake.ts';
import { agentHello } from './agent-socket.ts';

export interface RawAgentAddress {
  port: number;
  /** The local address of the connection; each has about 28,000 ports. */
  localAddress: string;
}

const END_OF_HEADERS = '\r\n\r\n';
const SWITCHING = 'HTTP/1.1 101';
/** The key only has to be well-formed, as the answer to it is not checked. */
const UPGRADE = {
  Host: 'bench',
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': Buffer.alloc(16, 1).toString('base64'),
};

/** A binary message, masked with zeros. @throws RangeError unless it has 126 to 65,535 bytes */
function messageOf(text: string): Buffer {
  const payload = Buffer.from(text);
  if (payload.length < 126 || payload.length > 0xffff)
    throw new RangeError(`${payload.length} bytes are too few or many`);
  const message = Buffer.alloc(8 + payload.length);
  message.writeUInt16BE(0x82fe);
  message.writeUInt16BE(payload.length, 2);
  payload.copy(message, 8);
  return message;
}

/**
 * As much of a WebSocket as an idle agent needs, so that thousands of connections cost the client little. It
 * answers no ping, so it must send more often than the backend pings.
 */
export class RawAgentSocket {
  /** Whether the handshake succeeded and a first message has arrived. */
  readonly greeted: Promise<boolean>;
  readonly #socket: Socket;

  constructor(name: string, { port, localAddress }: RawAgentAddress) {
    this.#socket = connect({ host: '127.0.0.1', port, localAddress, noDelay: true });
    this.greeted = this.#greeting();
    const headers = Object.entries({ ...UPGRADE, ...agentHello(name, MEDIA_TYPE_JSON) });
    const lines = headers.map(([header, value]) => `${header}: ${value}`);
    this.#socket.write(`${['GET / HTTP/1.1', ...lines].join('\r\n')}${END_OF_HEADERS}`);
  }

  #greeting(): Promise<boolean> {
    let text = '';
    return new Promise((resolve) => {
      this.#socket.on('data', (chunk: Buffer) => {
        if (text === SWITCHING) return;
        text += chunk.toString('latin1');
        const end = text.indexOf(END_OF_HEADERS);
        if (end < 0 || text.length === end + END_OF_HEADERS.length) return;
        resolve(text.startsWith(SWITCHING));
        text = SWITCHING;
      });
      this.#socket.on('error', () => {
        resolve(false);
      });
      this.#socket.on('close', () => {
        resolve(false);
      });
    });
  }

  send(text: string): void {
    this.#socket.write(messageOf(text));
  }

  cut(): void {
    this.#socket.resetAndDestroy();
  }
}

import { connect } from 'node:net';
import { TimedOut } from './eventually.ts';

export interface RawRequest {
  method?: string;
  path: string;
  /** Header lines, written unchanged. */
  lines: readonly string[];
  /** Whether to add the four headers of a WebSocket upgrade. */
  upgrade: boolean;
}

export interface RawAnswer {
  status: number;
  /** Values of each header, by its name in lower case. */
  headers: Record<string, string[]>;
  body: string;
}

const UPGRADE_LINES = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];
const ANSWER_WITHIN_MS = 10_000;

/** Sends one request over a connection of its own, without a client library that changes the header lines. */
export function rawRequest(port: number, { method = 'GET', path, lines, upgrade }: RawRequest): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let received = Buffer.alloc(0);
    const finish = (answer: RawAnswer | undefined): void => {
      if (answer === undefined) return;
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(ANSWER_WITHIN_MS, () => {
      socket.destroy(new TimedOut(`no complete answer to ${method} ${path} within ${ANSWER_WITHIN_MS} ms`));
    });
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      finish(answerIn(received, false));
    });
    socket.on('end', () => {
      finish(answerIn(received, true));
    });
    socket.on('error', reject);
    socket.on('close', () => {
      reject(new Error(`closed after ${JSON.stringify(received.toString())}`));
    });
    const head = [`${method} ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, ...lines, ...(upgrade ? UPGRADE_LINES : [])];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
  });
}

/** Parses the answer; undefined while it is incomplete. */
function answerIn(received: Buffer, ended: boolean): RawAnswer | undefined {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [statusLine = '', ...lines] = received.toString('latin1', 0, headEnd).split('\r\n');
  const headers: Record<string, string[]> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    (headers[line.slice(0, colon).toLowerCase()] ??= []).push(line.slice(colon + 1).trim());
  }
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1]);
  if (status === 101) return { status, headers, body: '' };
  const body = received.subarray(headEnd + 4);
  const length = headers['content-length']?.[0];
  if (length === undefined ? !ended : body.length < Number(length)) return undefined;
  return { status, headers, body: body.toString() };
}

import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Context } from 'koa';
import type { Answer } from '../request/route.ts';

/**
 * Texts of at least this many characters are sent as buffers. Node.js copies a text that follows the headers into
 * memory of three bytes a character, which takes longer for a long text than converting it.
 */
const LONG_TEXT_LENGTH = 16_384;

/** Passes a response to Koa. */
export function send(context: Context, { status, body = '', type, headers }: Answer): void {
  // The members of the context are setters that call these.
  const { res, response } = context;
  response.status = status;
  if (type !== undefined) res.setHeader('Content-Type', type);
  if (headers !== undefined) for (const name in headers) res.setHeader(name, headers[name] ?? '');
  if (typeof body === 'string') response.body = body.length < LONG_TEXT_LENGTH ? body : Buffer.from(body);
  else if (Buffer.isBuffer(body)) response.body = body;
  else response.body = Readable.from(yieldingBetween(body, context.req.socket), { highWaterMark: 1 });
}

const DISCONNECT_CODES: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE']);

/** Whether sending failed because the client closed its connection, which is normal. */
export const isClientDisconnect = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && DISCONNECT_CODES.has(error.code);

/**
 * Produces the next part only when the client has read the previous one, and stops when it disconnects. An empty part
 * only yields to other work and is not sent.
 */
export async function* yieldingBetween(
  parts: Iterable<string>,
  reader: Pick<Socket, 'destroyed'>,
): AsyncGenerator<string> {
  for (const part of parts) {
    if (part !== '') yield part;
    await nextTick();
    if (reader.destroyed) return;
  }
}

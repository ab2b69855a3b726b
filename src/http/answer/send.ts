import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from 'koa';
import type { Answer } from '../request/route.ts';

/** Hands an answer to Koa. */
export function send(context: Context, { status, body = '', type, headers }: Answer): void {
  context.status = status;
  if (type !== undefined) context.res.setHeader('Content-Type', type);
  if (headers !== undefined) for (const name in headers) context.res.setHeader(name, headers[name] ?? '');
  context.body =
    typeof body === 'string' || Buffer.isBuffer(body)
      ? body
      : Readable.from(inTurns(body, context.req.socket), { highWaterMark: 1 });
}

const GONE: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE']);

/** Whether an answer could not be sent because whoever asked for it has closed his connection, as everybody may. */
export const isReaderGone = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && GONE.has(error.code);

/**
 * Whoever does not read gets no further part, and for whoever has gone none is made. One without text is only a turn for others: a
 * stream that is destroyed meanwhile would not end it.
 */
async function* inTurns(parts: Iterable<string>, reader: Pick<Socket, 'destroyed'>): AsyncGenerator<string> {
  for (const part of parts) {
    if (part !== '') yield part;
    await nextTurn();
    if (reader.destroyed) return;
  }
}

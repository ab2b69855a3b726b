import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { yieldingBetween } from '../answer/send.ts';
import type { EarlierAnswer } from './earlier-route.ts';
import type { Flavour } from './flavour.ts';

/** Shorter answers are not compressed. */
const MIN_COMPRESSED_BYTES = 1_024;

/** Sends an answer; without its body as the answer to HEAD. @throws Error when the client disconnects meanwhile */
export async function sendAnswer(
  response: ServerResponse,
  { status, body = '', type, headers, cookies }: EarlierAnswer,
  { headersOfJson, compresses }: Pick<Flavour, 'headersOfJson' | 'compresses'>,
): Promise<void> {
  const { req: request } = response;
  const isHead = request.method === 'HEAD';
  response.statusCode = status;
  const ofType = type === 'application/json' ? headersOfJson : {};
  for (const [name, value] of Object.entries({ ...ofType, ...headers })) response.setHeader(name, value);
  if (cookies !== undefined) response.setHeader('Set-Cookie', [...cookies]);
  const keepsType = !isHead || compresses;
  if (type !== undefined && body !== '' && keepsType) response.setHeader('Content-Type', type);
  if (isHead || body === '') {
    if (status !== 204 && status !== 304) response.setHeader('Content-Length', '0');
    response.end();
    return;
  }
  if (typeof body !== 'string' && !Buffer.isBuffer(body)) {
    await stream(response, body, compresses && acceptsGzip(request.headers['accept-encoding']));
    return;
  }
  const length = Buffer.byteLength(body);
  if (compresses && length >= MIN_COMPRESSED_BYTES && acceptsGzip(request.headers['accept-encoding'])) {
    await stream(response, [body.toString()], true);
    return;
  }
  response.setHeader('Content-Length', length);
  response.end(body);
}

async function stream(response: ServerResponse, parts: Iterable<string>, isCompressed: boolean): Promise<void> {
  const source = Readable.from(yieldingBetween(parts, response.req.socket), { highWaterMark: 1 });
  if (!isCompressed) return pipeline(source, response);
  response.setHeader('Content-Encoding', 'gzip');
  response.setHeader('Vary', 'Accept-Encoding');
  return pipeline(source, createGzip(), response);
}

const acceptsGzip = (accepted: string | string[] | undefined): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(String(accepted ?? ''));

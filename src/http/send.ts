import type { Context } from 'koa';
import type { Answer } from './route.ts';

/** Hands an answer to Koa. */
export function send(context: Context, { status, body, type, headers }: Answer): void {
  context.status = status;
  if (type !== undefined) context.res.setHeader('Content-Type', type);
  if (headers !== undefined) for (const name in headers) context.res.setHeader(name, headers[name] ?? '');
  context.body = body ?? '';
}

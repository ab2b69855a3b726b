import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context } from 'koa';
import type { DescribedRoute } from '../openapi/openapi.ts';
import { TEXT } from '../openapi/descriptions.ts';

/** Describes the metrics in the API documentation. The request listener answers before routing. */
export const METRICS_ROUTE: DescribedRoute = {
  method: 'GET',
  path: '/metrics',
  access: 'open',
  reads: 'nothing',
  availableAtStartup: true,
  description: { summary: 'Return the metrics for Prometheus, with any method', tag: 'status', answers: { 200: TEXT } },
};

const compress = promisify(gzip);

export interface MetricsPorts {
  /** Collects the metrics and returns the text with its media type. Undefined when they are turned off. */
  metrics: (() => Promise<{ type: string; text: string }>) | undefined;
}

/** Sends the metrics without authentication, for any method. It is not the handler of a route because a route has one method. */
export async function sendMetrics(context: Context, metrics: NonNullable<MetricsPorts['metrics']>): Promise<void> {
  const { type, text } = await metrics();
  context.status = 200;
  context.res.setHeader('Content-Type', type);
  context.set('Vary', 'Accept-Encoding');
  if (context.acceptsEncodings('gzip', 'identity') === 'gzip') {
    context.set('Content-Encoding', 'gzip');
    context.body = await compress(text);
  } else {
    context.body = text;
  }
}

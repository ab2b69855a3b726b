import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context, Next } from 'koa';
import type { DescribedRoute } from '../openapi/openapi.ts';
import { TEXT } from '../openapi/descriptions.ts';

const PATH = '/metrics';

/** Describes the metrics in the API documentation. `serveMetrics` answers before routing. */
export const METRICS_ROUTE: DescribedRoute = {
  method: 'GET',
  path: PATH,
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

/** Serves `/metrics` without authentication for any method. It is not a route because a route has one method. */
export function serveMetrics({ metrics }: MetricsPorts) {
  return async (context: Context, next: Next): Promise<void> => {
    if (context.path !== PATH || metrics === undefined) {
      await next();
      return;
    }
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
  };
}

import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context, Next } from 'koa';
import type { DescribedRoute } from '../openapi/openapi.ts';
import { TEXT } from '../openapi/descriptions.ts';

const PATH = '/metrics';

/** For those who read of the API; it is answered before its rows are. */
export const METRICS_ROUTE: DescribedRoute = {
  method: 'GET',
  path: PATH,
  access: 'open',
  reads: 'nothing',
  availableAtStartup: true,
  description: { summary: 'Scrape the metrics, by any method', tag: 'status', answers: { 200: TEXT } },
};

const compress = promisify(gzip);

export interface MetricsPorts {
  /** The text of a scrape, made now, and its media type. */
  metrics(): Promise<{ type: string; text: string }>;
}

/**
 * Answers `/metrics` to anybody, whatever the method. It is no row of the table of routes: those have a method each, and whoever may
 * use them is asked.
 */
export function serveMetrics({ metrics }: MetricsPorts) {
  return async (context: Context, next: Next): Promise<void> => {
    if (context.path !== PATH) {
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

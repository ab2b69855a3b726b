import type { RequestListener } from 'node:http';
import Koa from 'koa';
import type { Auth } from '../auth/auth.ts';
import type { Log } from '../ports/log.ts';
import { type EntityUse, withEntityCount } from './answer/entity-count-headers.ts';
import { EntityTags } from './answer/entity-tag.ts';
import { sendError } from './answer/errors.ts';
import { isClientDisconnect } from './answer/send.ts';
import type { Route } from './request/route.ts';
import type { StartGate } from './request/start-gate.ts';
import { METRICS_ROUTE, type MetricsPorts, sendMetrics } from './routes/metrics.ts';
import { normalizeTarget, routing } from './routing.ts';

export interface RequestListenerPorts extends Partial<MetricsPorts> {
  auth: Pick<Auth, 'access' | 'authentication'>;
  /** The key of the entity tags. */
  tokenSecret: Uint8Array;
  /** Called for each response; costs one lookup. */
  entityUse(): EntityUse;
  /** Maximum size of a request body. */
  requestLimitBytes: number;
  log: Log;
}

/** Serves `routes`, and `/metrics` when `ports` has metrics. */
export function requestListener(
  routes: readonly Route[],
  startGate: Pick<StartGate, 'refusal'>,
  { auth, tokenSecret, entityUse, requestLimitBytes, log, metrics }: RequestListenerPorts,
): RequestListener {
  const koa = new Koa();
  const { access, authentication } = auth;
  const ports = { authentication, access, startGate, tags: new EntityTags(tokenSecret), requestLimitBytes };
  const route = routing(routes, ports);
  // One middleware, because each costs a promise and a closure for each request.
  koa.use(async (context) => {
    if (!normalizeTarget(context)) return;
    try {
      if (metrics !== undefined && context.path === METRICS_ROUTE.path) await sendMetrics(context, metrics);
      else await withEntityCount(context, entityUse, () => route(context));
    } catch (error) {
      sendError(context, error, log);
    }
  });
  koa.on('error', (err: unknown) => {
    if (isClientDisconnect(err)) log.debug({ err }, 'client disconnected before the response was sent');
    else log.warn({ err }, 'could not send the response');
  });
  const handle = koa.callback();
  return (request, response) => void handle(request, response);
}

import type { IncomingMessage } from 'node:http';
import { Router, type RouterContext, type RouterMiddleware } from '@koa/router';
import type Koa from 'koa';
import type { Context, Next } from 'koa';
import type { AccessRequest, Subject } from '../rules/rbac.ts';
import { NotFound } from '../resources/errors.ts';
import { isAssetName, isName } from '../resources/names.ts';
import { isSilencedName } from '../resources/silenced.ts';
import type { AccessControl } from '../auth/access-control.ts';
import type { Authentication } from '../auth/authentication.ts';
import { type Conditions, conditionsOf, isKnown } from './request/conditions.ts';
import type { EntityTags } from './answer/entity-tag.ts';
import { parseForm } from './request/form-body.ts';
import { parseArray, parseObject, readBody } from './request/json-body.ts';
import { parseMergePatch } from './request/merge-patch.ts';
import { parseQuery } from './request/query.ts';
import { cleanedPath, hasMalformedEscape, isText, originForm } from './request/request-path.ts';
import type { Caller } from '../auth/caller.ts';
import type { Access, Answer, Route, RouteRequest } from './request/route.ts';
import { send } from './answer/send.ts';
import type { StartGate } from './request/start-gate.ts';

export interface RoutingPorts {
  authentication: Authentication;
  access: AccessControl;
  startGate: Pick<StartGate, 'refusal'>;
  tags: EntityTags;
  requestLimitBytes: number;
}

const NOBODY: Caller = { username: '', groups: [] };
const EMPTY_BODY = {};
const BAD_REQUEST: Answer = { status: 400, type: 'text/plain; charset=utf-8', body: '400 Bad Request' };
/** The one parameter that may be any text that can be decoded: a group of a user is no key of anything. */
const FREE_TEXT = 'group';
/** Parameters whose names have rules of their own; in those of silences `*` stands for all. */
const NAME_RULES: ReadonlyMap<string, (name: string) => boolean> = new Map([
  ['silence', isSilencedName],
  ['subscription', isSilencedName],
  ['silencedCheck', isSilencedName],
  ['asset', isAssetName],
]);

/** Makes `koa` answer every path: by its row of the table, or that there is none. */
export function useRoutes(koa: Koa, routes: readonly Route[], ports: RoutingPorts): void {
  koa.use(refusingUncleanPaths).use(routing(routes, ports)).use(answeringUnrouted);
}

const depthOf = (path: string): number => path.split('/').length;

/** A router tries each of its rows at each request: there is one for each depth of path, as no row fits a path of another depth. */
function routing(routes: readonly Route[], ports: RoutingPorts): Koa.Middleware {
  const routers = new Map<number, Router>();
  for (const route of routes) {
    const depth = depthOf(route.path);
    const router = routers.get(depth) ?? new Router({ sensitive: true, strict: true });
    router.register(route.path, [route.method], serving(route, ports));
    routers.set(depth, router);
  }
  const ways = new Map([...routers].map(([depth, router]) => [depth, router.routes()]));
  return (context, next) => ways.get(depthOf(context.path))?.(context as RouterContext, next) ?? next();
}

/**
 * The outermost middleware: behind it a request has a path. A target may name the server, as for a proxy; its name counts in
 * place of the header. Source: RFC 9112, 3.2.2.
 */
export function takingTargets(context: Context, next: Next): Promise<void> | void {
  const { req } = context;
  const { target, authority } = originForm(req.url ?? '/');
  req.url = target;
  if (authority !== undefined) req.headers.host = authority;
  if ((authority === undefined || URL.canParse(`http://${authority}`)) && hasPath(context)) {
    return next() as Promise<void>;
  }
  send(context, BAD_REQUEST);
}

/** A target of another form than ours may be none that can be taken apart. */
function hasPath(context: Context): boolean {
  try {
    return typeof context.path === 'string';
  } catch (error) {
    if (error instanceof TypeError || error instanceof URIError) return false;
    throw error;
  }
}

/** Before anything else: what is not a path of the API in its one spelling. */
function refusingUncleanPaths(context: Context, next: Next): Promise<void> | void {
  const url = context.req.url ?? '/';
  const questionMark = url.indexOf('?');
  const path = questionMark < 0 ? url : url.slice(0, questionMark);
  if (hasMalformedEscape(path)) {
    send(context, BAD_REQUEST);
    return;
  }
  const cleaned = cleanedPath(path);
  if (cleaned === undefined) return next() as Promise<void>;
  send(context, { status: 301, headers: { Location: cleaned + url.slice(path.length) } });
}

/** No row has this path, or none with this method: told without credentials. */
function answeringUnrouted(context: Context): void {
  const matched = (context['matched'] ?? []) as RouterContext['matched'] & object;
  if (matched.length === 0) throw new NotFound();
  answerMethodNotAllowed(context, matched);
}

function answerMethodNotAllowed(context: Context, layers: readonly { methods: string[] }[]): void {
  const methods = new Set(layers.flatMap((layer) => layer.methods.filter((method) => method !== 'HEAD')));
  send(context, { status: 405, headers: { Allow: [...methods].join(', ') } });
}

/** The one way of a request through the house; the order is part of the interface. */
function serving(route: Route, ports: RoutingPorts): RouterMiddleware {
  const { authentication, access, startGate, tags, requestLimitBytes } = ports;
  const tagOf = (stored: object): string => tags.of(stored);
  const { access: needed, reads, errorsAs, servesAtOnce = false } = route;
  return async (context) => {
    // The router answers HEAD with the rows of GET.
    if (context.method === 'HEAD') {
      answerMethodNotAllowed(context, context.matched ?? []);
      return;
    }
    const refusal = servesAtOnce ? undefined : startGate.refusal;
    if (refusal !== undefined) {
      send(context, refusal);
      return;
    }
    const { req } = context;
    const { authorization, host = '' } = req.headers;
    // A socket that is closed has no address any more.
    const { remoteAddress = '' } = req.socket;
    const params: RouteRequest['params'] = context.params;
    const caller = needed === 'open' ? NOBODY : await authentication.callerOf(authorization);
    if (typeof needed === 'object') access.assertAllowed(caller, accessRequest(needed, params, caller));
    // Whoever has no right is told so as everywhere.
    if (errorsAs !== undefined) context.state['errorsAs'] = errorsAs;
    await route.admit?.(authorization);
    if (reads === 'json') assertNamespaceName(params['namespace']);
    else assertNames(params, context.path);
    const query = parseQuery(req.url ?? '');
    const body = reads === 'nothing' ? EMPTY_BODY : bodyOf(await readBody(req, requestLimitBytes), route, req);
    const { protocol } = context;
    const conditions = conditionsOf(req.headers);
    const isGone = (): boolean => req.socket.destroyed;
    const connection = { isGone, remoteAddress, protocol, host };
    const request = { params, query, caller, body, authorization, conditions, tagOf, ...connection };
    send(context, unlessKnown(route, conditions, tagged(await route.handle(request), tags)));
  };
}

function tagged(answer: Answer, tags: EntityTags): Answer {
  const { taggedAs, ...untagged } = answer;
  if (taggedAs === undefined) return answer;
  return { ...untagged, headers: { ...untagged.headers, ETag: tags.ofJson(taggedAs) } };
}

/** Without its body for a client that still has what it is of, where the route says that it may be. */
function unlessKnown({ describes }: Route, conditions: Conditions, answer: Answer): Answer {
  const tag = answer.headers?.['ETag'];
  if (!(304 in describes.answers) || tag === undefined || !isKnown(conditions, tag)) return answer;
  return { status: 304, headers: { ETag: tag } };
}

function bodyOf(bytes: Buffer, { reads }: Route, { headers }: IncomingMessage): object {
  if (reads === 'merge-patch') return parseMergePatch(bytes, headers['content-type']);
  if (reads === 'form') return parseForm(bytes, headers['content-type']);
  if (reads === 'json-array') return parseArray(bytes);
  return parseObject(bytes);
}

/** @throws NotFound for what cannot be the name of anything stored, so that it never becomes part of a key */
function assertNames(params: RouteRequest['params'], path: string): void {
  for (const parameter in params) {
    if (parameter === FREE_TEXT && isText(path)) continue;
    const names = parameter === 'key' ? (params[parameter]?.split('/') ?? []) : [params[parameter] ?? ''];
    if (!names.every(NAME_RULES.get(parameter) ?? isName)) throw new NotFound();
  }
}

/** Other names are judged with the body. @throws NotFound */
function assertNamespaceName(namespace: string | undefined): void {
  if (namespace !== undefined && !isName(namespace)) throw new NotFound(`the namespace ${namespace} does not exist`);
}

function accessRequest(
  needed: Exclude<Access, string>,
  params: RouteRequest['params'],
  caller: Subject,
): AccessRequest {
  const { resource, ownResource, verb, nameFrom, namePrefix = '', namespaceFrom = 'namespace' } = needed;
  const name =
    nameFrom === undefined ? '' : namePrefix + nameFrom.map((parameter) => params[parameter] ?? '').join('/');
  const isOwn = ownResource !== undefined && name === caller.username;
  return { resource: isOwn ? ownResource : resource, verb, namespace: params[namespaceFrom], name };
}

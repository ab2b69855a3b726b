import type { IncomingMessage } from 'node:http';
import { Router, type RouterContext, type RouterMiddleware } from '@koa/router';
import type { Context } from 'koa';
import type { AccessRequest, Subject } from '../rules/rbac.ts';
import { isSessionId } from '../resources/actor-address.ts';
import { NotFound } from '../resources/errors.ts';
import { isAssetName, isName } from '../resources/names.ts';
import { isSilencedName } from '../resources/silenced.ts';
import type { AccessControl } from '../auth/access-control.ts';
import type { Authentication } from '../auth/authentication.ts';
import { type Conditions, conditionsOf, ifNoneMatchIncludes } from './request/conditions.ts';
import type { EntityTags } from './answer/entity-tag.ts';
import { parseForm } from './request/form-body.ts';
import { parseArray, parseObject, readBody } from './request/json-body.ts';
import { parseMergePatch } from './request/merge-patch.ts';
import { parseQuery } from './request/query.ts';
import { cleanedPath, hasMalformedEscape, isText, originForm, pathOf } from './request/request-path.ts';
import type { Caller } from '../auth/caller.ts';
import type { Access, Answer, Route, RouteRequest } from './request/route.ts';
import { type FoundRoute, parametersOf, RouteTrie, segmentsOf } from './request/route-trie.ts';
import { send } from './answer/send.ts';
import type { StartGate } from './request/start-gate.ts';

export interface RoutingPorts {
  authentication: Authentication;
  access: AccessControl;
  startGate: Pick<StartGate, 'refusal'>;
  tags: EntityTags;
  requestLimitBytes: number;
}

const ANONYMOUS: Caller = { username: '', groups: [] };
const EMPTY_BODY = {};
const BLANK = /^[ \t\r\n]*$/;
const BAD_REQUEST: Answer = { status: 400, type: 'text/plain; charset=utf-8', body: '400 Bad Request' };
/** The only parameter that may be any decodable text: a group is not part of a store key. */
const FREE_TEXT = 'group';
/** Parameters with rules of their own; in silence names `*` stands for all. */
const NAME_RULES: ReadonlyMap<string, (name: string) => boolean> = new Map([
  ['silence', isSilencedName],
  ['subscription', isSilencedName],
  ['silencedCheck', isSilencedName],
  ['asset', isAssetName],
  ['sessionId', isSessionId],
]);

/** Returns the function that answers every path, either with its route or with an error that no route matches. */
export function routing(routes: readonly Route[], ports: RoutingPorts): (context: Context) => Promise<void> | void {
  const router = new Router({ sensitive: true, strict: true });
  for (const route of routes) router.register(route.path, [route.method], handlerOf(route, ports));
  const trie = new RouteTrie(router);
  return (context) => {
    if (isUnclean(context)) return;
    const { method } = context;
    const segments = segmentsOf(context.path);
    const matched = trie.find(segments);
    if (matched.length === 0) throw new NotFound();
    const route = matched.find(({ methods }) => methods.includes(method));
    // The router maps HEAD to GET routes.
    if (route === undefined || method === 'HEAD') {
      answerMethodNotAllowed(context, matched);
      return;
    }
    context.params = parametersOf(route, segments);
    return route.handle(context as RouterContext, noMore) as Promise<void>;
  };
}

/** No middleware follows the handler of a route. */
const noMore = (): Promise<void> => Promise.resolve();

/**
 * Splits an absolute-form target, as sent to a proxy, into path and host; the host replaces the `Host` header. Answers 400 and
 * returns false for a target without a valid path, on which everything else relies. Source: RFC 9112, 3.2.2.
 */
export function normalizeTarget(context: Context): boolean {
  const { req } = context;
  const { target, authority } = originForm(req.url ?? '/');
  req.url = target;
  if (authority !== undefined) req.headers.host = authority;
  if ((authority === undefined || URL.canParse(`http://${authority}`)) && hasPath(context)) return true;
  send(context, BAD_REQUEST);
  return false;
}

/** Koa throws when it cannot parse a target. */
function hasPath(context: Context): boolean {
  try {
    return typeof context.path === 'string';
  } catch (error) {
    if (error instanceof TypeError || error instanceof URIError) return false;
    throw error;
  }
}

/** Answers 400 to malformed escapes and redirects paths with empty or dot segments to their clean form; returns whether it did. */
function isUnclean(context: Context): boolean {
  const url = context.req.url ?? '/';
  const path = pathOf(context.req);
  if (hasMalformedEscape(path)) {
    send(context, BAD_REQUEST);
    return true;
  }
  const cleaned = cleanedPath(path);
  if (cleaned === undefined) return false;
  send(context, { status: 301, headers: { Location: cleaned + url.slice(path.length) } });
  return true;
}

/** Answers 405 without authentication. */
function answerMethodNotAllowed(context: Context, matched: readonly FoundRoute[]): void {
  const methods = new Set(matched.flatMap((route) => route.methods.filter((method) => method !== 'HEAD')));
  send(context, { status: 405, headers: { Allow: [...methods].join(', ') } });
}

/** Processes a request from authentication to the response. The order of the steps is part of the API. */
function handlerOf(route: Route, ports: RoutingPorts): RouterMiddleware {
  const { authentication, access, startGate, tags, requestLimitBytes } = ports;
  const tagOf = (stored: object): string => tags.of(stored);
  const { access: requiredAccess, reads, errorsAs, availableAtStartup = false } = route;
  return async (context) => {
    const refusal = availableAtStartup ? undefined : startGate.refusal;
    if (refusal !== undefined) {
      send(context, refusal);
      return;
    }
    const { req } = context;
    const { authorization, host = '' } = req.headers;
    // A closed socket has no address.
    const { remoteAddress = '' } = req.socket;
    const params: RouteRequest['params'] = context.params;
    const identified = requiredAccess === 'open' ? ANONYMOUS : authentication.callerOf(authorization);
    // The caller of a known token is found at once, and each wait costs time.
    const caller = identified instanceof Promise ? await identified : identified;
    if (typeof requiredAccess === 'object') access.assertAllowed(caller, accessRequest(requiredAccess, params, caller));
    // Authentication and authorization errors have the standard JSON form on all routes.
    if (errorsAs !== undefined) context.state['errorsAs'] = errorsAs;
    if (route.admit !== undefined) await route.admit(authorization);
    const readsJson = reads === 'json' || reads === 'optional-json';
    if (readsJson) assertNamespaceName(params['namespace']);
    else if (reads !== 'merge-patch') assertNames(params, context.path);
    const query = parseQuery(req.url ?? '');
    const body = reads === 'nothing' ? EMPTY_BODY : bodyOf(await readBody(req, requestLimitBytes), route, req);
    // The content type and the syntax of a patch are checked before anything else.
    if (reads === 'merge-patch') assertNames(params, context.path);
    const { protocol } = context;
    const conditions = conditionsOf(req.headers);
    const isDisconnected = (): boolean => req.socket.destroyed;
    const connection = { isDisconnected, remoteAddress, protocol, host };
    const request = { params, query, caller, body, authorization, conditions, tagOf, ...connection };
    send(context, withNotModified(route, conditions, withEntityTag(await route.handle(request), tags)));
  };
}

function withEntityTag(answer: Answer, tags: EntityTags): Answer {
  const { tagSource, ...untagged } = answer;
  if (tagSource === undefined) return answer;
  return { ...untagged, headers: { ...untagged.headers, ETag: tags.ofJson(tagSource) } };
}

/** Replaces the response by 304 if the client has the current version and the route supports it. */
function withNotModified({ description }: Route, conditions: Conditions, answer: Answer): Answer {
  const tag = answer.headers?.['ETag'];
  if (!(304 in description.answers) || tag === undefined || !ifNoneMatchIncludes(conditions, tag)) return answer;
  return { status: 304, headers: { ETag: tag } };
}

const isBlank = (bytes: Buffer): boolean => BLANK.test(bytes.toString());

function bodyOf(bytes: Buffer, { reads }: Route, { headers }: IncomingMessage): object {
  if (reads === 'merge-patch') return parseMergePatch(bytes, headers['content-type']);
  if (reads === 'form') return parseForm(bytes, headers['content-type']);
  if (reads === 'json-array') return parseArray(bytes);
  if (reads === 'optional-json' && isBlank(bytes)) return EMPTY_BODY;
  return parseObject(bytes);
}

/** @throws NotFound when a parameter is not a valid name, so that it never becomes part of a store key */
function assertNames(params: RouteRequest['params'], path: string): void {
  for (const parameter in params) {
    if (parameter === FREE_TEXT && isText(path)) continue;
    const names = parameter === 'key' ? (params[parameter]?.split('/') ?? []) : [params[parameter] ?? ''];
    if (!names.every(NAME_RULES.get(parameter) ?? isName)) throw new NotFound();
  }
}

/** Validates the namespace only; the other names are validated with the body. @throws NotFound */
function assertNamespaceName(namespace: string | undefined): void {
  if (namespace !== undefined && !isName(namespace)) throw new NotFound(`the namespace ${namespace} does not exist`);
}

function accessRequest(
  requiredAccess: Exclude<Access, string>,
  params: RouteRequest['params'],
  caller: Subject,
): AccessRequest {
  const { resource, ownResource, verb, nameFrom, namePrefix = '', namespaceFrom = 'namespace' } = requiredAccess;
  const name =
    nameFrom === undefined ? '' : namePrefix + nameFrom.map((parameter) => params[parameter] ?? '').join('/');
  const isOwn = ownResource !== undefined && name === caller.username;
  return { resource: isOwn ? ownResource : resource, verb, namespace: params[namespaceFrom], name };
}

import { randomUUID } from 'node:crypto';
import type { Commands } from '../../actors/administration/commands.ts';
import type { Clock } from '../../ports/clock.ts';
import { type ApiKey, ApiKeySchema, assertApiKey, parseApiKeyShape, shownApiKey } from '../../resources/api-key.ts';
import { InvalidResource, NotFound, Unauthenticated } from '../../resources/errors.ts';
import { isName } from '../../resources/names.ts';
import { withoutMembers } from '../../resources/schema.ts';
import { subjectOf } from '../../rules/rbac.ts';
import { digestApiKey } from '../../store/api-key-digest.ts';
import { mapPage } from '../../store/page.ts';
import type { ResourceStore } from '../../store/resource-store.ts';
import type { AccessControl } from '../../auth/access-control.ts';
import { assertNotMoved } from '../request/path-match.ts';
import { CREATED, NO_CONTENT } from '../answer/answers.ts';
import { assertConditions } from '../request/conditions.ts';
import { assertValid } from './configuration-kind.ts';
import { taggedJson } from '../answer/entity-tag.ts';
import { applyPatch } from '../request/merge-patch.ts';
import { deletes, lists, patches, shows } from '../openapi/descriptions.ts';
import type { Caller } from '../../auth/caller.ts';
import { type Answer, CORE, param, type Route, type RouteRequest } from '../request/route.ts';
import { selectedList } from '../answer/selected-page.ts';

export interface ApiKeyRoutePorts {
  resources: Pick<ResourceStore, 'get' | 'lazyList'>;
  commands: Pick<Commands, 'createResource' | 'editResource' | 'deleteResource'>;
  access: Pick<AccessControl, 'assertHoldsAllOf'>;
  clock: Clock;
}

const KIND = 'apikeys';
const KEYS = `${CORE}/apikeys`;
const ONE = `${KEYS}/:name`;
const NAME = ['name'] as const;
const RULES = { assert: assertApiKey };
const ShownSchema = withoutMembers(ApiKeySchema, ['hash'], { $id: 'core/v2.APIKey.shown' });

/** The secret is returned only on creation. Paths accept both the key's name and the secret. */
export function apiKeyRoutes(ports: ApiKeyRoutePorts): Route[] {
  const { resources, commands } = ports;
  return [
    {
      method: 'GET',
      path: KEYS,
      access: { resource: KIND, verb: 'list' },
      reads: 'nothing',
      description: lists('API keys', ShownSchema),
      handle: (request) =>
        selectedList(KIND, request, (page) => mapPage(resources.lazyList(KIND, undefined, page), shownApiKey)),
    },
    {
      method: 'POST',
      path: KEYS,
      access: { resource: KIND, verb: 'create' },
      admit: (authorization) => Promise.resolve(assertToken(authorization)),
      reads: 'json',
      description: {
        summary: 'Create an API key; the key is the last segment of the `Location` header',
        body: ShownSchema,
        answers: { 201: { headers: ['Location'] } },
        credentials: ['bearer'],
      },
      handle: (request) => create(request, ports),
    },
    {
      method: 'GET',
      path: ONE,
      access: { resource: KIND, verb: 'get', nameFrom: NAME },
      reads: 'nothing',
      description: shows('an API key without its secret', ShownSchema),
      handle: (request) => {
        const key = storedKey(resources, param(request, 'name'));
        return taggedJson(key, shownApiKey(key));
      },
    },
    {
      method: 'PATCH',
      path: ONE,
      access: { resource: KIND, verb: 'update', nameFrom: NAME },
      reads: 'merge-patch',
      description: patches('an API key', ShownSchema),
      handle: (request) => patch(request, ports),
    },
    {
      method: 'DELETE',
      path: ONE,
      access: { resource: KIND, verb: 'delete', nameFrom: NAME },
      reads: 'nothing',
      description: deletes('an API key'),
      handle: async (request) => {
        const { name = '' } = storedKey(resources, param(request, 'name')).metadata;
        await commands.deleteResource(KIND, undefined, name, request.caller.username);
        return NO_CONTENT;
      },
    },
  ];
}

/**
 * Rejects requests that authenticate with an API key, so that a leaked key cannot create others.
 * @throws Unauthenticated
 */
function assertToken(authorization: string | undefined): void {
  if (authorization?.startsWith('Bearer ') !== true) throw new Unauthenticated('bad credentials');
}

/** Ignores name, creation time and hash in the body. */
async function create({ body, caller }: RouteRequest, ports: ApiKeyRoutePorts): Promise<Answer> {
  const { commands, clock } = ports;
  const sent = parseApiKeyShape(body);
  if (sent.username === '') throw new InvalidResource('user does not exist');
  const secret = randomUUID();
  const { name, hash } = digestApiKey(secret);
  const metadata = { ...sent.metadata, name };
  const key: ApiKey = { ...sent, metadata, created_at: Math.floor(clock.nowMs() / 1_000), hash };
  assertValid(RULES, key);
  assertMayMake(key, caller, ports);
  await commands.createResource(KIND, key, caller.username);
  return { ...CREATED, headers: { Location: `${KEYS}/${secret}` } };
}

async function patch(request: RouteRequest, ports: ApiKeyRoutePorts): Promise<Answer> {
  const { resources, commands } = ports;
  const { body, conditions, caller, tagOf } = request;
  const inPath = param(request, 'name');
  const { metadata } = parseApiKeyShape(body);
  const { name = '' } = storedKey(resources, inPath).metadata;
  assertNotMoved(metadata, '', [inPath, name]);
  const edit = (stored: ApiKey): ApiKey => {
    assertConditions(conditions, tagOf(stored));
    const { hash, created_at } = stored;
    const edited = { ...parseApiKeyShape(applyPatch(stored, body)), hash, created_at };
    assertValid(RULES, edited);
    assertMayMake(edited, caller, ports);
    return edited;
  };
  const stored = await commands.editResource(KIND, { namespace: undefined, name }, edit, caller.username);
  return taggedJson(stored, shownApiKey(stored));
}

/** A key grants all rights of its user, so the caller must hold them. @throws Forbidden, InvalidResource */
function assertMayMake({ username }: ApiKey, caller: Caller, { resources, access }: ApiKeyRoutePorts): void {
  const user = isName(username) ? resources.get('users', undefined, username) : undefined;
  if (user === undefined) throw new InvalidResource('user does not exist');
  access.assertHoldsAllOf(caller, subjectOf(user));
}

/** Looks up a key by its name or its secret. @throws NotFound */
function storedKey(resources: Pick<ResourceStore, 'get'>, nameOrKey: string): ApiKey {
  const key = resources.get(KIND, undefined, nameOrKey) ?? resources.get(KIND, undefined, digestApiKey(nameOrKey).name);
  if (key === undefined) throw new NotFound();
  return key;
}

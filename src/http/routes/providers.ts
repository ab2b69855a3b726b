import { SECRETS_API } from '../../resources/configuration-kinds.ts';
import { InvalidResource, NotFound } from '../../resources/errors.ts';
import {
  assertBuiltInProvider,
  BUILT_IN_PROVIDER,
  ENV_PROVIDER,
  ProviderSchema,
} from '../../resources/secret-provider.ts';
import { CREATED, json } from '../answer/answers.ts';
import { taggedJson } from '../answer/entity-tag.ts';
import { assertSameName } from '../request/path-match.ts';
import { lists, replaces, shows } from '../openapi/descriptions.ts';
import { param, type Route, type RouteRequest } from '../request/route.ts';

const RESOURCE = 'providers';
const HOME = `${SECRETS_API}/providers`;
const ONE = `${HOME}/:name`;
const NAME_FROM = ['name'];

/** The providers of secrets: only `env`, which is built in. It can be neither changed nor deleted, and no other can be added. */
export function providerRoutes(): Route[] {
  return [
    {
      method: 'GET',
      path: HOME,
      access: { resource: RESOURCE, verb: 'list' },
      reads: 'nothing',
      description: lists('the providers of secrets', ProviderSchema, {}),
      handle: () => json([BUILT_IN_PROVIDER]),
    },
    {
      method: 'GET',
      path: ONE,
      access: { resource: RESOURCE, verb: 'get', nameFrom: NAME_FROM },
      reads: 'nothing',
      description: shows('a provider of secrets', ProviderSchema),
      handle: (request) => {
        assertExists(request);
        return taggedJson(BUILT_IN_PROVIDER);
      },
    },
    {
      method: 'PUT',
      path: ONE,
      access: { resource: RESOURCE, verb: 'update', nameFrom: NAME_FROM },
      reads: 'json',
      description: {
        ...replaces('', ProviderSchema),
        summary: 'Confirm the provider of secrets, which is built in; nothing changes',
      },
      handle: (request) => {
        assertBuiltInProvider(request.body);
        assertSameName(ENV_PROVIDER, param(request, 'name'));
        return CREATED;
      },
    },
    {
      method: 'DELETE',
      path: ONE,
      access: { resource: RESOURCE, verb: 'delete', nameFrom: NAME_FROM },
      reads: 'nothing',
      description: { summary: 'Refused: the provider of secrets is built in', answers: {} },
      handle: (request) => {
        assertExists(request);
        throw new InvalidResource(`the provider ${ENV_PROVIDER} is built in and cannot be deleted`);
      },
    },
  ];
}

/** @throws NotFound */
function assertExists(request: RouteRequest): void {
  if (param(request, 'name') !== ENV_PROVIDER) throw new NotFound();
}

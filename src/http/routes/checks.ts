import type { Commands } from '../../actors/commands.ts';
import { assertCheck, type Check, parseCheckShape } from '../../resources/check.ts';
import { InvalidResource, NotFound } from '../../resources/errors.ts';
import type { ResourceStore } from '../../store/resource-store.ts';
import { assertSameName, assertSameNamespace } from '../address.ts';
import { CREATED, NO_CONTENT } from '../answers.ts';
import { taggedJson } from '../entity-tag.ts';
import { listAnswer, pageRequest } from '../pagination.ts';
import { type Answer, CORE, param, type Route, type RouteRequest } from '../route.ts';

export interface CheckRoutePorts {
  resources: Pick<ResourceStore, 'get' | 'list'>;
  commands: Pick<Commands, 'createResource' | 'putResource' | 'deleteResource'>;
}

const KIND = 'checks';
const NAMESPACE = `${CORE}/namespaces/:namespace/checks`;
const CHECK = `${NAMESPACE}/:name`;
const NAME = ['name'] as const;

export function checkRoutes({ resources, commands }: CheckRoutePorts): Route[] {
  const list = (namespace: string | undefined, request: RouteRequest): Answer => {
    const { items, lastKey } = resources.list(KIND, namespace, pageRequest(request.query));
    return listAnswer(items.map(withReferenceDefaults), lastKey);
  };

  return [
    {
      method: 'GET',
      path: `${CORE}/checks`,
      access: { resource: KIND, verb: 'list' },
      reads: 'nothing',
      handle: (request) => list(undefined, request),
    },
    {
      method: 'GET',
      path: NAMESPACE,
      access: { resource: KIND, verb: 'list' },
      reads: 'nothing',
      handle: (request) => list(param(request, 'namespace'), request),
    },
    {
      method: 'POST',
      path: NAMESPACE,
      access: { resource: KIND, verb: 'create' },
      reads: 'json',
      handle: async (request) => {
        const check = acceptCheck(request.body, param(request, 'namespace'), undefined);
        await commands.createResource(KIND, check, request.caller.username);
        return CREATED;
      },
    },
    {
      method: 'GET',
      path: CHECK,
      access: { resource: KIND, verb: 'get', nameFrom: NAME },
      reads: 'nothing',
      handle: (request) => {
        const check = resources.get(KIND, param(request, 'namespace'), param(request, 'name'));
        if (check === undefined) throw new NotFound();
        return taggedJson(withReferenceDefaults(check));
      },
    },
    {
      method: 'PUT',
      path: CHECK,
      access: { resource: KIND, verb: 'update', nameFrom: NAME },
      reads: 'json',
      handle: async (request) => {
        const check = acceptCheck(request.body, param(request, 'namespace'), param(request, 'name'));
        await commands.putResource(KIND, check, request.caller.username);
        return CREATED;
      },
    },
    {
      method: 'DELETE',
      path: CHECK,
      access: { resource: KIND, verb: 'delete', nameFrom: NAME },
      reads: 'nothing',
      handle: async (request) => {
        const { username } = request.caller;
        await commands.deleteResource(KIND, param(request, 'namespace'), param(request, 'name'), username);
        return NO_CONTENT;
      },
    },
  ];
}

/** `name` is that of the path, where it has one. @throws InvalidResource */
function acceptCheck(body: object, namespace: string, name: string | undefined): Check {
  const check = parseCheckShape(body);
  assertSameNamespace(check.metadata.namespace, namespace);
  if (name !== undefined) assertSameName(check.metadata.name, name);
  try {
    assertCheck(check);
    assertSupported(check);
  } catch (error) {
    if (error instanceof InvalidResource) {
      throw new InvalidResource(`resource is invalid: ${error.message}`, { cause: error });
    }
    throw error;
  }
  return check;
}

/** A field that would be kept but not obeyed is refused: nobody must rely on it. @throws InvalidResource */
function assertSupported(check: Check): void {
  const isUsed: Record<string, boolean> = {
    cron: check.cron !== undefined,
    round_robin: check.round_robin,
    proxy_requests: check.proxy_requests !== undefined,
    subdue: Object.keys(check.subdue?.days ?? {}).length > 0,
    subdues: check.subdues !== undefined,
  };
  for (const field in isUsed) {
    if (isUsed[field] === true) throw new InvalidResource(`${field}: not supported yet`);
  }
}

/** A reference that names no type is one to a pipeline of this API. */
function withReferenceDefaults(check: Check): Check {
  if (check.pipelines.length === 0) return check;
  const pipelines = check.pipelines.map(({ name, type, api_version: version }) => ({
    name,
    type: type === '' ? 'Pipeline' : type,
    api_version: version === '' ? 'core/v2' : version,
  }));
  return { ...check, pipelines };
}

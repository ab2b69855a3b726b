import type { Commands } from '../../actors/administration/commands.ts';
import { HookListSchema, parseHookList, withHooks, withoutHook } from '../../resources/check-hooks.ts';
import { NotFound } from '../../resources/errors.ts';
import { isName } from '../../resources/names.ts';
import { CREATED, NO_CONTENT } from '../answer/answers.ts';
import { EMPTY } from '../openapi/descriptions.ts';
import { CORE, param, type Route, type RouteRequest } from '../request/route.ts';

export interface CheckHookPorts {
  commands: Pick<Commands, 'editResource'>;
}

const RESOURCE = 'checks';
const NAME = ['name'] as const;
const HOOKS = `${CORE}/namespaces/:namespace/checks/:name/hooks/:type`;

/**
 * Edits single hooks of a check. Each edit applies to the stored check, so concurrent edits do not overwrite each
 * other.
 */
export function checkHookRoutes({ commands }: CheckHookPorts): Route[] {
  return [
    {
      method: 'PUT',
      path: HOOKS,
      access: { resource: RESOURCE, verb: 'update', nameFrom: NAME },
      reads: 'json',
      description: {
        summary: 'Add hooks of a type to a check',
        body: HookListSchema,
        answers: { 201: EMPTY },
      },
      handle: async (request) => {
        const added = parseHookList(request.body, param(request, 'type'));
        await commands.editResource(
          RESOURCE,
          addressOf(request),
          (check) => withHooks(check, added),
          request.caller.username,
        );
        return CREATED;
      },
    },
    {
      method: 'DELETE',
      path: `${HOOKS}/hook/:hook`,
      access: { resource: RESOURCE, verb: 'delete', nameFrom: NAME },
      reads: 'nothing',
      description: { summary: 'Remove a hook of a type from a check', answers: { 204: EMPTY } },
      handle: async (request) => {
        const [type, hook] = [param(request, 'type'), param(request, 'hook')];
        await commands.editResource(
          RESOURCE,
          addressOf(request),
          (check) => withoutHook(check, type, hook),
          request.caller.username,
        );
        return NO_CONTENT;
      },
    },
  ];
}

/** @throws NotFound when no check can have the name */
function addressOf(request: RouteRequest): { namespace: string; name: string } {
  const [namespace, name] = [param(request, 'namespace'), param(request, 'name')];
  if (!isName(name)) throw new NotFound();
  return { namespace, name };
}

import type { Commands } from '../../actors/administration/commands.ts';
import { NotFound } from '../../resources/errors.ts';
import { assertNamespace, type Namespace, NamespaceSchema, parseNamespaceShape } from '../../resources/namespace.ts';
import type { ResourceStore } from '../../store/resource-store.ts';
import type { AccessControl } from '../../auth/access-control.ts';
import { assertNotMoved, assertSameName } from '../request/path-match.ts';
import { CREATED, NO_CONTENT } from '../answer/answers.ts';
import { assertConditions } from '../request/conditions.ts';
import { taggedJson } from '../answer/entity-tag.ts';
import { applyPatch } from '../request/merge-patch.ts';
import { creates, deletes, lists, patches, replaces, shows } from '../openapi/descriptions.ts';
import { listAnswer } from '../answer/pagination.ts';
import { CORE, param, type Route } from '../request/route.ts';
import { type List, selectedPage } from '../answer/selected-page.ts';

export interface NamespaceRoutePorts {
  resources: Pick<ResourceStore, 'get' | 'lazyList'>;
  commands: Pick<Commands, 'createResource' | 'putResource' | 'deleteResource'>;
  access: Pick<AccessControl, 'seesAllNamespaces' | 'seesNamespace' | 'rbacChanged'>;
}

const KIND = 'namespaces';
const NAMESPACES = `${CORE}/namespaces`;
const NAMESPACE = `${NAMESPACES}/:name`;
/** Rights inside a namespace apply to the namespace itself, except for creating it. */
const ITSELF = { resource: KIND, nameFrom: ['name'], namespaceFrom: 'name' } as const;

/** Creating or deleting a namespace also writes its role and binding, so each must refresh the access policy. */
export function namespaceRoutes({ resources, commands, access }: NamespaceRoutePorts): Route[] {
  return [
    {
      method: 'GET',
      path: NAMESPACES,
      access: 'authenticated',
      reads: 'nothing',
      description: { ...lists('namespaces that the caller may see', NamespaceSchema), tag: KIND },
      handle: async (request) => {
        const { caller } = request;
        const list: List<Namespace> = (page) => resources.lazyList(KIND, undefined, page);
        const isVisible = ({ name }: Namespace): boolean => access.seesNamespace(caller, name);
        const { items, lastKey, isSelected } = await selectedPage(
          KIND,
          request,
          list,
          access.seesAllNamespaces(caller) ? undefined : isVisible,
        );
        return listAnswer(items, lastKey, isSelected);
      },
    },
    {
      method: 'POST',
      path: NAMESPACES,
      access: { resource: KIND, verb: 'create' },
      reads: 'json',
      description: creates('a namespace', NamespaceSchema),
      handle: async (request) => {
        const namespace = parseNamespaceShape(request.body);
        assertNamespace(namespace);
        await commands.createResource(KIND, namespace, request.caller.username);
        access.rbacChanged();
        return CREATED;
      },
    },
    {
      method: 'GET',
      path: NAMESPACE,
      access: 'authenticated',
      reads: 'nothing',
      description: { ...shows('a namespace', NamespaceSchema), tag: KIND },
      handle: (request) => {
        const namespace = resources.get(KIND, undefined, param(request, 'name'));
        if (namespace === undefined || !access.seesNamespace(request.caller, namespace.name)) throw new NotFound();
        return taggedJson(namespace);
      },
    },
    {
      method: 'PUT',
      path: NAMESPACE,
      access: { ...ITSELF, verb: 'update' },
      reads: 'json',
      description: replaces('a namespace', NamespaceSchema),
      handle: async (request) => {
        const namespace = parseNamespaceShape(request.body);
        assertSameName(namespace.name, param(request, 'name'));
        assertNamespace(namespace);
        await commands.putResource(KIND, namespace, request.caller.username);
        access.rbacChanged();
        return CREATED;
      },
    },
    {
      // A namespace has no member but its name, which is immutable: a patch is validated and changes nothing.
      method: 'PATCH',
      path: NAMESPACE,
      access: { ...ITSELF, verb: 'update' },
      reads: 'merge-patch',
      description: patches('a namespace; its only member, the name, is immutable', NamespaceSchema),
      handle: (request) => {
        const name = param(request, 'name');
        const sent = parseNamespaceShape(request.body).name;
        assertNotMoved({ name: sent === '' ? undefined : sent, namespace: undefined }, '', [name]);
        const namespace = resources.get(KIND, undefined, name);
        if (namespace === undefined) throw new NotFound();
        assertConditions(request.conditions, request.tagOf(namespace));
        assertNamespace(parseNamespaceShape(applyPatch(namespace, request.body)));
        return taggedJson(namespace);
      },
    },
    {
      method: 'DELETE',
      path: NAMESPACE,
      access: { ...ITSELF, verb: 'delete' },
      reads: 'nothing',
      description: deletes('an empty namespace'),
      handle: async (request) => {
        await commands.deleteResource(KIND, undefined, param(request, 'name'), request.caller.username);
        access.rbacChanged();
        return NO_CONTENT;
      },
    },
  ];
}

import type { Commands } from '../../actors/administration/commands.ts';
import type { Clock } from '../../ports/clock.ts';
import { NotFound } from '../../resources/errors.ts';
import {
  assertSilenced,
  parseSilencedShape,
  type Silenced,
  SilencedSchema,
  silencedName,
  type SilenceRecord,
} from '../../resources/silenced.ts';
import { isOver } from '../../rules/silencing.ts';
import { mapPage } from '../../store/page.ts';
import type { ResourceStore } from '../../store/resource-store.ts';
import { assertSameName, assertSameNamespace } from '../request/path-match.ts';
import { CREATED, NO_CONTENT } from '../answer/answers.ts';
import { taggedJson } from '../answer/entity-tag.ts';
import { creates, deletes, lists, replaces, SELECTORS, shows } from '../openapi/descriptions.ts';
import { listAnswer } from '../answer/pagination.ts';
import { type Answer, CORE, param, type Route, type RouteRequest } from '../request/route.ts';
import { selectionOf } from '../answer/selected-page.ts';

export interface SilencedRoutePorts {
  resources: Pick<ResourceStore, 'get' | 'lazyList'>;
  commands: Pick<Commands, 'createSilence' | 'putSilence' | 'deleteSilence'>;
  clock: Clock;
}

const RESOURCE = 'silenced';
const NAMESPACE = `${CORE}/namespaces/:namespace/silenced`;
const ONE = `${NAMESPACE}/:silence`;
const NAME = ['silence'] as const;

/** Lists are not paginated, because clients of this resource do not support pages. Expired silences are hidden. */
export function silencedRoutes({ resources, commands, clock }: SilencedRoutePorts): Route[] {
  const isShown = (silenced: Silenced): boolean => !isOver(silenced, Math.floor(clock.nowMs() / 1_000));
  const list = (
    { query }: RouteRequest,
    namespace: string | undefined,
    isRequested: (silenced: Silenced) => boolean = () => true,
  ): Answer => {
    const isSelected = selectionOf(RESOURCE, query) ?? (() => true);
    const { items } = mapPage(resources.lazyList(RESOURCE, namespace), withoutState);
    return listAnswer(
      items,
      undefined,
      (silenced) => isShown(silenced) && isRequested(silenced) && isSelected(silenced),
    );
  };

  return [
    {
      method: 'GET',
      path: `${CORE}/silenced`,
      access: { resource: RESOURCE, verb: 'list' },
      reads: 'nothing',
      description: lists('silences in all namespaces', SilencedSchema, SELECTORS),
      handle: (request) => list(request, undefined),
    },
    {
      method: 'GET',
      path: `${CORE}/silenced/checks/:silencedCheck`,
      access: { resource: RESOURCE, verb: 'get', namePrefix: 'checks/', nameFrom: ['silencedCheck'] },
      reads: 'nothing',
      description: lists('silences on a check in all namespaces', SilencedSchema, SELECTORS),
      handle: (request) => list(request, undefined, ({ check }) => check === param(request, 'silencedCheck')),
    },
    {
      method: 'GET',
      path: NAMESPACE,
      access: { resource: RESOURCE, verb: 'list' },
      reads: 'nothing',
      description: lists('silences in a namespace', SilencedSchema, SELECTORS),
      handle: (request) => list(request, param(request, 'namespace')),
    },
    {
      method: 'GET',
      path: `${NAMESPACE}/checks/:silencedCheck`,
      access: { resource: RESOURCE, verb: 'get', namePrefix: 'checks/', nameFrom: ['silencedCheck'] },
      reads: 'nothing',
      description: lists('silences on a check', SilencedSchema, SELECTORS),
      handle: (request) =>
        list(request, param(request, 'namespace'), ({ check }) => check === param(request, 'silencedCheck')),
    },
    {
      method: 'GET',
      path: `${NAMESPACE}/subscriptions/:subscription`,
      access: { resource: RESOURCE, verb: 'get', namePrefix: 'subscriptions/', nameFrom: ['subscription'] },
      reads: 'nothing',
      description: lists('silences on a subscription', SilencedSchema, SELECTORS),
      handle: (request) =>
        list(
          request,
          param(request, 'namespace'),
          ({ subscription }) => subscription === param(request, 'subscription'),
        ),
    },
    {
      method: 'POST',
      path: NAMESPACE,
      access: { resource: RESOURCE, verb: 'create' },
      reads: 'json',
      description: creates('a silence', SilencedSchema),
      handle: async (request) => {
        const silenced = accept(request.body, param(request, 'namespace'), undefined);
        await commands.createSilence(silenced, request.caller.username);
        return CREATED;
      },
    },
    {
      method: 'GET',
      path: ONE,
      access: { resource: RESOURCE, verb: 'get', nameFrom: NAME },
      reads: 'nothing',
      description: shows('a silence', SilencedSchema),
      handle: (request) => {
        const record = resources.get(RESOURCE, param(request, 'namespace'), param(request, 'silence'));
        if (record === undefined || !isShown(record)) throw new NotFound('silenced entry not found');
        return taggedJson(withoutState(record));
      },
    },
    {
      method: 'PUT',
      path: ONE,
      access: { resource: RESOURCE, verb: 'update', nameFrom: NAME },
      reads: 'json',
      description: replaces('a silence', SilencedSchema),
      handle: async (request) => {
        const silenced = accept(request.body, param(request, 'namespace'), param(request, 'silence'));
        await commands.putSilence(silenced, request.caller.username);
        return CREATED;
      },
    },
    {
      method: 'DELETE',
      path: ONE,
      access: { resource: RESOURCE, verb: 'delete', nameFrom: NAME },
      reads: 'nothing',
      description: deletes('a silence'),
      handle: async (request) => {
        const { username } = request.caller;
        await commands.deleteSilence(param(request, 'namespace'), param(request, 'silence'), username);
        return NO_CONTENT;
      },
    },
  ];
}

/** Hides the internal member `state`. */
function withoutState(record: SilenceRecord): Silenced & { state: undefined } {
  return { ...record, state: undefined };
}

/**
 * `name` is the path parameter; undefined on creation. The body must have and form the same name.
 * @throws InvalidResource
 */
function accept(body: object, namespace: string, name: string | undefined): Silenced {
  const silenced = parseSilencedShape(body);
  assertSameNamespace(silenced.metadata.namespace, namespace);
  if (name !== undefined) assertSameName(silenced.metadata.name, name);
  assertSilenced(silenced);
  if (name !== undefined) assertSameName(silencedName(silenced), name);
  return silenced;
}

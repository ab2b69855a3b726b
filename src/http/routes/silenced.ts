import type { Commands } from '../../actors/commands.ts';
import type { Clock } from '../../ports/clock.ts';
import { NotFound } from '../../resources/errors.ts';
import {
  assertSilenced,
  parseSilencedShape,
  type Silenced,
  silencedName,
  type SilenceRecord,
} from '../../resources/silenced.ts';
import { isOver } from '../../rules/silencing.ts';
import type { ResourceStore } from '../../store/resource-store.ts';
import { assertSameName, assertSameNamespace } from '../address.ts';
import { CREATED, json, NO_CONTENT } from '../answers.ts';
import { taggedJson } from '../entity-tag.ts';
import { type Answer, CORE, param, type Route, type RouteRequest } from '../route.ts';
import { selectionOf } from '../selected-page.ts';

export interface SilencedRoutePorts {
  resources: Pick<ResourceStore, 'get' | 'list'>;
  commands: Pick<Commands, 'createSilence' | 'putSilence' | 'deleteSilence'>;
  clock: Clock;
}

const RESOURCE = 'silenced';
const NAMESPACE = `${CORE}/namespaces/:namespace/silenced`;
const ONE = `${NAMESPACE}/:silence`;
const NAME = ['silence'] as const;

/** Lists are whole: clients of this kind know no pages. What is over is not shown. */
export function silencedRoutes({ resources, commands, clock }: SilencedRoutePorts): Route[] {
  const isShown = (record: SilenceRecord): boolean => !isOver(record, Math.floor(clock.nowMs() / 1_000));
  const list = (
    { query }: RouteRequest,
    namespace: string | undefined,
    isAsked: (silenced: Silenced) => boolean = () => true,
  ): Answer => {
    const isSelected = selectionOf(RESOURCE, query);
    const { items } = resources.list(RESOURCE, namespace);
    const asked = items.filter((record) => isShown(record) && isAsked(record));
    return json((isSelected === undefined ? asked : asked.filter(isSelected)).map(shown));
  };

  return [
    {
      method: 'GET',
      path: `${CORE}/silenced`,
      access: { resource: RESOURCE, verb: 'list' },
      reads: 'nothing',
      handle: (request) => list(request, undefined),
    },
    {
      method: 'GET',
      path: `${CORE}/silenced/checks/:silencedCheck`,
      access: { resource: RESOURCE, verb: 'get', namePrefix: 'checks/', nameFrom: ['silencedCheck'] },
      reads: 'nothing',
      handle: (request) => list(request, undefined, ({ check }) => check === param(request, 'silencedCheck')),
    },
    {
      method: 'GET',
      path: NAMESPACE,
      access: { resource: RESOURCE, verb: 'list' },
      reads: 'nothing',
      handle: (request) => list(request, param(request, 'namespace')),
    },
    {
      method: 'GET',
      path: `${NAMESPACE}/checks/:silencedCheck`,
      access: { resource: RESOURCE, verb: 'get', namePrefix: 'checks/', nameFrom: ['silencedCheck'] },
      reads: 'nothing',
      handle: (request) =>
        list(request, param(request, 'namespace'), ({ check }) => check === param(request, 'silencedCheck')),
    },
    {
      method: 'GET',
      path: `${NAMESPACE}/subscriptions/:subscription`,
      access: { resource: RESOURCE, verb: 'get', namePrefix: 'subscriptions/', nameFrom: ['subscription'] },
      reads: 'nothing',
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
      handle: (request) => {
        const record = resources.get(RESOURCE, param(request, 'namespace'), param(request, 'silence'));
        if (record === undefined || !isShown(record)) throw new NotFound('silenced entry not found');
        return taggedJson(shown(record));
      },
    },
    {
      method: 'PUT',
      path: ONE,
      access: { resource: RESOURCE, verb: 'update', nameFrom: NAME },
      reads: 'json',
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
      handle: async (request) => {
        const { username } = request.caller;
        await commands.deleteSilence(param(request, 'namespace'), param(request, 'silence'), username);
        return NO_CONTENT;
      },
    },
  ];
}

/** Whether its begin is on record is the ledger's affair. */
function shown(record: SilenceRecord): object {
  return { ...record, state: undefined };
}

/** `name` is that of the path, where it has one: the body must name it and spell it. @throws InvalidResource */
function accept(body: object, namespace: string, name: string | undefined): Silenced {
  const silenced = parseSilencedShape(body);
  assertSameNamespace(silenced.metadata.namespace, namespace);
  if (name !== undefined) assertSameName(silenced.metadata.name, name);
  assertSilenced(silenced);
  if (name !== undefined) assertSameName(silencedName(silenced), name);
  return silenced;
}

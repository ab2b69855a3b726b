import { type Static, Type } from 'typebox';
import { type Commands, WAKEABLE_ACTORS } from '../../actors/administration/commands.ts';
import type { ActorFilter } from '../../actors/inspection/actor-list.ts';
import { ACTOR_KIND_NAMES, isActorKindName } from '../../resources/actor-address.ts';
import { InvalidResource, NotFound } from '../../resources/errors.ts';
import { isName } from '../../resources/names.ts';
import type { Page, PageRequest } from '../../store/page.ts';
import { NO_CONTENT } from '../answer/answers.ts';
import { EMPTY, lists, nullable, PAGE } from '../openapi/descriptions.ts';
import { listAnswer, pageRequest } from '../answer/pagination.ts';
import { param, type Route } from '../request/route.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;

const ActorSchema = Type.Object(
  {
    session_id: Type.String({ description: '`<machine>:<key>`' }),
    machine: Type.String(),
    key: Type.String(),
    value: Type.String({ description: 'its state' }),
    since: nullable(Type.Integer({ description: 'Unix seconds; null where the ledger does not know' })),
  },
  { $id: 'mon/v1.Actor' },
);
const FILTER = {
  machine: Type.String({ description: `one of ${ACTOR_KIND_NAMES}` }),
  entity: Type.String({ description: '`<namespace>/<name>`' }),
  check: Type.String({ description: 'name of a check' }),
};

export interface ActorRoutePorts {
  commands: Pick<Commands, 'wake'>;
  actors(filter: ActorFilter, page: PageRequest): Page<Static<typeof ActorSchema>>;
}

export function actorRoutes({ commands, actors }: ActorRoutePorts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/mon/v1/actors',
      access: { resource: 'actors', verb: 'list' },
      reads: 'nothing',
      description: lists('the actors, those that sleep too', ActorSchema, { ...PAGE, ...FILTER }),
      handle: ({ query }) => {
        const { limit = DEFAULT_LIMIT, from } = pageRequest(query);
        const { items, lastKey } = actors(actorFilter(query), { limit: Math.min(limit, MAX_LIMIT), from });
        return listAnswer(items, lastKey);
      },
    },
    {
      method: 'POST',
      path: '/api/mon/v1/actors/:actor/:key/wake',
      access: { resource: 'actors', verb: 'update', nameFrom: ['actor', 'key'] },
      reads: 'nothing',
      description: { summary: 'Let a quarantined actor run again', answers: { 204: EMPTY } },
      handle: async (request) => {
        const actor = WAKEABLE_ACTORS.find((word) => word === param(request, 'actor'));
        if (actor === undefined) throw new NotFound();
        await commands.wake(actor, param(request, 'key'), request.caller.username);
        return NO_CONTENT;
      },
    },
  ];
}

/** @throws InvalidResource naming the parameter that cannot be one */
function actorFilter(query: URLSearchParams): ActorFilter {
  const machine = query.get('machine') ?? undefined;
  const entity = query.get('entity') ?? undefined;
  const check = query.get('check') ?? undefined;
  if (machine !== undefined && !isActorKindName(machine))
    throw new InvalidResource(`machine must be one of ${ACTOR_KIND_NAMES}`);
  if (entity !== undefined && !(entity.split('/').length === 2 && entity.split('/').every(isName))) {
    throw new InvalidResource('entity must be <namespace>/<name>');
  }
  if (check !== undefined && !isName(check)) throw new InvalidResource('check must be the name of a check');
  return { machine, entity, check };
}

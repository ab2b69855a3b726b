import { type Static, Type } from 'typebox';
import { type Commands, WAKEABLE_ACTORS } from '../../actors/administration/commands.ts';
import type { StateCounts } from '../../actors/inspection/actor-counts.ts';
import type { ActorDetail } from '../../actors/inspection/actor-details.ts';
import type { ActorFilter } from '../../actors/inspection/actor-list.ts';
import {
  ACTOR_KIND_NAMES,
  type ActorAddress,
  isActorKindName,
  parseActorAddress,
  sessionIdOf,
} from '../../resources/actor-address.ts';
import { InvalidResource, NotFound } from '../../resources/errors.ts';
import { isName } from '../../resources/names.ts';
import { mapOf } from '../../resources/schema.ts';
import type { KeyQuery, KeySlice } from '../../store/ledger/ledger-query.ts';
import type { Page, PageRequest } from '../../store/page.ts';
import { json, NO_CONTENT } from '../answer/answers.ts';
import { EMPTY, lists, nullable, PAGE } from '../openapi/descriptions.ts';
import { listAnswer, strictPageRequest } from '../answer/pagination.ts';
import { assertKnownParameters, limitParameter, wholeNumberParameter } from '../request/query-parameters.ts';
import { param, type Route } from '../request/route.ts';
import { LedgerPageSchema } from './ledger.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;

const ActorSchema = Type.Object(
  {
    session_id: Type.String({ description: '`<machine>:<key>`' }),
    machine: Type.String(),
    key: Type.String(),
    value: Type.String({ description: 'its state' }),
    since: nullable(
      Type.Integer({
        description:
          'Unix seconds at which it entered the state; null if none of its newest 101 ledger entries changes it, and for the last actors of a page when 2,000 entries were read for the others',
      }),
    ),
  },
  { $id: 'mon/v1.Actor' },
);
const DetailSchema = Type.Object(
  {
    session_id: Type.String({ description: '`<machine>:<key>`' }),
    machine: Type.String(),
    key: Type.String(),
    value: Type.Unknown({ description: 'The state: a name, or an object with the nested state' }),
    since_ms: nullable(
      Type.Integer({
        description: 'Unix ms at which it entered the state; null if none of its newest 101 ledger entries changes it',
      }),
    ),
    deadline_at_ms: nullable(
      Type.Integer({ description: 'Unix ms at which its deadline is reached, blind time included; null without one' }),
    ),
    context: Type.Object({}, { description: 'Its data, redacted' }),
    seq: Type.Integer({ description: 'The ledger entries up to this number are part of the state' }),
  },
  { $id: 'mon/v1.ActorDetail' },
);
const CountsSchema = Type.Object(
  {
    machine: Type.String(),
    states: mapOf(Type.Integer(), {
      description: 'Number of actors by state; no state with none',
    }),
  },
  { $id: 'mon/v1.ActorCounts' },
);
const DEFAULT_ENTRIES = 50;
const MAX_ENTRIES = 200;
const ENTRIES = {
  limit: Type.Integer({
    minimum: 1,
    description: `Maximum number of entries in a page, up to ${MAX_ENTRIES}; ${DEFAULT_ENTRIES} by default`,
  }),
  continue: Type.Integer({ minimum: 1, description: 'Value of the header `Sensu-Continue` of the previous page' }),
};
const FILTER = {
  machine: Type.String({ description: `one of ${ACTOR_KIND_NAMES}` }),
  entity: Type.String({ description: '`<namespace>/<name>`' }),
  check: Type.String({ description: 'name of a check' }),
};

export interface ActorRoutePorts {
  commands: Pick<Commands, 'wake'>;
  actors(filter: ActorFilter, page: PageRequest): Page<Static<typeof ActorSchema>>;
  actor(address: ActorAddress): Promise<ActorDetail | undefined>;
  /** Counts until the client has disconnected. */
  actorCounts(isDisconnected: () => boolean): Promise<StateCounts[]>;
  ledgerOfKey(query: KeyQuery): KeySlice;
}

export function actorRoutes({ commands, actors, actor, actorCounts, ledgerOfKey }: ActorRoutePorts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/mon/v1/actors',
      access: { resource: 'actors', verb: 'list' },
      reads: 'nothing',
      description: lists('the actors, those that sleep too', ActorSchema, { ...PAGE, ...FILTER }),
      handle: ({ query }) => {
        const { limit = DEFAULT_LIMIT, from } = strictPageRequest(query);
        const { items, lastKey } = actors(actorFilter(query), { limit: Math.min(limit, MAX_LIMIT), from });
        return listAnswer(items, lastKey);
      },
    },
    {
      method: 'GET',
      path: '/api/mon/v1/actors/:sessionId',
      access: { resource: 'actors', verb: 'get', nameFrom: ['sessionId'] },
      reads: 'nothing',
      description: {
        summary: 'Show an actor with its nested state, its data and its deadline, by its session id',
        answers: { 200: { schema: DetailSchema } },
        errors: ['not-found'],
      },
      handle: async (request) => {
        const address = parseActorAddress(param(request, 'sessionId'));
        const found = await actor(address);
        if (found === undefined) throw new NotFound(`actor ${sessionIdOf(address)} not found`);
        return json(found);
      },
    },
    {
      method: 'GET',
      path: '/api/mon/v1/actors/:sessionId/ledger',
      access: { resource: 'ledger', verb: 'list' },
      reads: 'nothing',
      description: {
        summary: 'List the transitions of an actor with their causes, newest first, by its session id',
        query: ENTRIES,
        answers: { 200: { schema: LedgerPageSchema, headers: ['Sensu-Continue'] } },
      },
      handle: (request) => {
        const { query } = request;
        assertKnownParameters(query, Object.keys(ENTRIES));
        const limit = limitParameter(query, { byDefault: DEFAULT_ENTRIES, max: MAX_ENTRIES });
        const before = wholeNumberParameter(query, 'continue');
        const { actor: kind, key } = parseActorAddress(param(request, 'sessionId'));
        const page = { limit, ...(before === undefined ? {} : { beforeSeq: before }) };
        const { entries, beforeSeq } = ledgerOfKey({ actor: kind, key, ...page });
        const answer = json({ entries });
        return beforeSeq === undefined ? answer : { ...answer, headers: { 'Sensu-Continue': String(beforeSeq) } };
      },
    },
    {
      method: 'GET',
      path: '/api/mon/v1/actor-counts',
      access: { resource: 'actors', verb: 'list' },
      reads: 'nothing',
      description: { ...lists('how many actors are in each state', CountsSchema, {}), tag: 'actors' },
      handle: async ({ isDisconnected }) => json(await actorCounts(isDisconnected)),
    },
    {
      method: 'POST',
      path: '/api/mon/v1/actors/:actor/:key/wake',
      access: { resource: 'actors', verb: 'update', nameFrom: ['actor', 'key'] },
      reads: 'nothing',
      description: { summary: 'Let a quarantined actor run again', answers: { 204: EMPTY } },
      handle: async (request) => {
        const kind = param(request, 'actor');
        const actor = WAKEABLE_ACTORS.find((name) => name === kind);
        if (actor === undefined) throw new NotFound(cannotWake(kind));
        await commands.wake(actor, param(request, 'key'), request.caller.username);
        return NO_CONTENT;
      },
    },
  ];
}

const cannotWake = (kind: string): string =>
  isActorKindName(kind)
    ? `an actor of the kind ${kind} cannot be woken, only one of ${WAKEABLE_ACTORS.join(', ')}`
    : `there is no actor kind ${kind}, only ${ACTOR_KIND_NAMES}`;

/** @throws InvalidResource that names the invalid parameter */
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

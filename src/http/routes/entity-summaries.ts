import { type Static, Type } from 'typebox';
import type { AccessControl } from '../../auth/access-control.ts';
import type { Entity } from '../../resources/entity.ts';
import { Forbidden } from '../../resources/errors.ts';
import { redactEntity } from '../../resources/redaction.ts';
import type { EntityStore } from '../../store/entity-store.ts';
import type { IncidentStore } from '../../store/incident-store.ts';
import { CollectedPage } from '../answer/collected-page.ts';
import { listAnswer, strictPageRequest } from '../answer/pagination.ts';
import { selectedPage } from '../answer/selected-page.ts';
import { TimeSlices } from '../answer/time-slices.ts';
import { lists, nullable } from '../openapi/descriptions.ts';
import { param, type Route, type RouteRequest } from '../request/route.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
/** The order of statuses, worst first; any other status is unknown. */
const WORST_FIRST = [2, 1];
const KEEPALIVE = 'keepalive';

const EntitySummarySchema = Type.Object(
  {
    namespace: Type.String(),
    name: Type.String(),
    entity_class: Type.String(),
    last_seen: Type.Integer({ description: 'Unix seconds; 0 = never' }),
    deadline_at_ms: nullable(
      Type.Integer({
        description: 'When the silence of its agent changes its state, Unix ms; null when it waits for none',
      }),
    ),
    version: Type.String({ description: 'Of the agent' }),
    os: Type.String(),
    subscriptions: Type.Array(Type.String()),
    labels: Type.Object({}, { additionalProperties: Type.String() }),
    problems: nullable(
      Type.Object(
        { count: Type.Integer(), worst: Type.Integer(), keepalive: Type.Integer() },
        {
          description:
            'Open events: their number, the worst status and that of the keepalive; null without the right to list events',
        },
      ),
    ),
  },
  { $id: 'mon/v1.EntitySummary' },
);

type EntitySummary = Static<typeof EntitySummarySchema>;
type Problems = NonNullable<EntitySummary['problems']>;

const NO_PROBLEMS: Problems = { count: 0, worst: 0, keepalive: 0 };

export interface EntitySummaryPorts {
  entities: Pick<EntityStore, 'list'>;
  incidents: Pick<IncidentStore, 'list'>;
  access: Pick<AccessControl, 'assertAllowed'>;
  /** When the deadline of an entity is reached, Unix ms; null when none is armed. */
  entityDeadlineAtMs(namespace: string, name: string): number | null;
}

/** Shows entities as lists need them, with their problems. */
export function entitySummaryRoutes({ entities, incidents, access, entityDeadlineAtMs }: EntitySummaryPorts): Route[] {
  function maySeeEvents({ caller }: RouteRequest, namespace: string): boolean {
    try {
      access.assertAllowed(caller, { resource: 'events', verb: 'list', namespace, name: '' });
      return true;
    } catch (error) {
      if (error instanceof Forbidden) return false;
      throw error;
    }
  }

  async function problemsOf(
    scope: { namespace: string; entity: string },
    slices: TimeSlices,
    isDisconnected: () => boolean,
  ): Promise<Problems> {
    let problems = NO_PROBLEMS;
    for (const { event } of incidents.list(scope)) {
      const { status, metadata } = event.check;
      problems = {
        count: problems.count + 1,
        worst: worse(problems.worst, status),
        keepalive: metadata.name === KEEPALIVE ? status : problems.keepalive,
      };
      await slices.pause();
      if (isDisconnected()) break;
    }
    return problems;
  }

  return [
    {
      method: 'GET',
      path: '/api/mon/v1/namespaces/:namespace/entity-summaries',
      access: { resource: 'entities', verb: 'list' },
      reads: 'nothing',
      description: { ...lists('entities, each as one line', EntitySummarySchema), tag: 'entities' },
      handle: async (request) => {
        const namespace = param(request, 'namespace');
        strictPageRequest(request.query);
        const { items, lastKey, isSelected } = await selectedPage('entities', request, (page) =>
          entities.list(namespace, { ...page, limit: Math.min(page.limit ?? DEFAULT_LIMIT, MAX_LIMIT) }),
        );
        const { isDisconnected } = request;
        const hasProblems = maySeeEvents(request, namespace);
        const slices = new TimeSlices();
        const shown = new CollectedPage<EntitySummary>();
        for (const entity of items) {
          const { name = '' } = entity.metadata;
          if (isSelected?.(entity) !== false) {
            const scope = { namespace, entity: name };
            const problems = hasProblems ? await problemsOf(scope, slices, isDisconnected) : null;
            const deadline = entityDeadlineAtMs(namespace, name);
            shown.add({ ...summaryOf(entity, problems), deadline_at_ms: deadline });
          }
          if (shown.isFull) return listAnswer(shown.items, name);
          await slices.pause();
          if (isDisconnected()) break;
        }
        return listAnswer(shown.items, lastKey);
      },
    },
  ];
}

function summaryOf(entity: Entity, problems: Problems | null) {
  const { metadata, entity_class, last_seen, sensu_agent_version, system, subscriptions } = redactEntity(entity);
  const { namespace = '', name = '', labels = {} } = metadata;
  return {
    namespace,
    name,
    entity_class,
    last_seen,
    version: sensu_agent_version,
    os: [system.platform ?? system.os, system.platform_version].filter(Boolean).join(' '),
    subscriptions: subscriptions ?? [],
    labels,
    problems,
  };
}

/** Critical is worse than warning, which is worse than unknown. */
function worse(one: number, other: number): number {
  const rank = (status: number): number => {
    if (status === 0) return WORST_FIRST.length + 1;
    const index = WORST_FIRST.indexOf(status);
    return index < 0 ? WORST_FIRST.length : index;
  };
  return rank(other) < rank(one) ? other : one;
}

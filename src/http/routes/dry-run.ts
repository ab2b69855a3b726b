import { definitionOf, namedBy } from '../../actors/events/publish.ts';
import type { AccessControl } from '../../auth/access-control.ts';
import { asIfReceived, asStored, type DryRunMoment } from '../../pipeline/dry-run-event.ts';
import { dryRun, type DryRunPorts } from '../../pipeline/dry-run.ts';
import { InvalidResource, NotFound } from '../../resources/errors.ts';
import type { Event } from '../../resources/event.ts';
import type { NamedByEvent } from '../../rules/run-plan.ts';
import type { EventStore } from '../../store/event-store.ts';
import { json } from '../answer/answers.ts';
import { parseEvent } from '../request/event-body.ts';
import { param, type Route, type RouteRequest } from '../request/route.ts';
import { DryRunRequestSchema, DryRunSchema, shownDryRun } from './dry-run-schema.ts';

export interface DryRunRoutePorts {
  access: Pick<AccessControl, 'assertAllowed' | 'isAllowed'>;
  events: Pick<EventStore, 'get'>;
  /** Programs look up events only for callers who may read all events of the namespace. */
  dryRuns: { ports(mayReadEvents: boolean): DryRunPorts; moment(): DryRunMoment };
}

/** Names of handlers and pipelines in one request. */
const MAX_NAMES = 50;
/** The configuration that the answer shows. */
const SHOWN_KINDS = ['handlers', 'filters', 'mutators', 'pipelines'] as const;
const MEMBERS = ['event', 'handlers', 'pipelines'];

/** The right to read a stored event. */
const eventRight = (namespace: string, entity: string, check: string) =>
  ({ verb: 'get', resource: 'events', namespace, name: `${entity}/${check}` }) as const;

/** Reports what would happen to an event, without side effects. */
export function dryRunRoutes({ access, events, dryRuns }: DryRunRoutePorts): Route[] {
  /** @throws Forbidden without the right to read everything in the answer */
  const assertMayRead = ({ caller }: RouteRequest, namespace: string): void => {
    for (const resource of SHOWN_KINDS) access.assertAllowed(caller, { verb: 'get', resource, namespace, name: '' });
  };

  /** @throws Forbidden, NotFound, InvalidResource */
  const eventOf = (request: RouteRequest, namespace: string, sent: unknown): Event => {
    const moment = dryRuns.moment();
    if (typeof sent !== 'object' || sent === null || Array.isArray(sent))
      throw new InvalidResource('event must be an object');
    const { entity, check } = sent as { entity?: unknown; check?: unknown };
    if (typeof entity !== 'string' || typeof check !== 'string') {
      return asIfReceived(parseEvent(sent, namespace, undefined), moment, (event) =>
        access.isAllowed(
          request.caller,
          eventRight(namespace, event.entity.metadata.name ?? '', event.check.metadata.name ?? ''),
        ),
      );
    }
    access.assertAllowed(request.caller, eventRight(namespace, entity, check));
    const stored = events.get(namespace, entity, check);
    if (stored === undefined) throw new NotFound();
    return asStored(stored, moment);
  };

  const mayReadEvents = ({ caller }: RouteRequest, namespace: string): boolean =>
    (['get', 'list'] as const).every((verb) =>
      access.isAllowed(caller, { verb, resource: 'events', namespace, name: '' }),
    );

  return [
    {
      method: 'POST',
      path: '/api/mon/v1/namespaces/:namespace/pipeline/dry-run',
      access: 'authenticated',
      reads: 'json',
      description: {
        summary: 'Show what would run with an event and why, without an effect',
        tag: 'pipelines',
        body: DryRunRequestSchema,
        answers: { 200: { schema: DryRunSchema } },
        errors: ['not-found'],
      },
      handle: async (request) => {
        const namespace = param(request, 'namespace');
        assertMayRead(request, namespace);
        const body = request.body as Record<string, unknown>;
        const unknown = Object.keys(body).find((name) => !MEMBERS.includes(name));
        if (unknown !== undefined) {
          throw new InvalidResource(
            `unknown member ${JSON.stringify(unknown.slice(0, 100))}; the known ones are ${MEMBERS.join(', ')}`,
          );
        }
        const [handlers, pipelines] = [names(body, 'handlers'), names(body, 'pipelines')];
        const event = eventOf(request, namespace, body['event']);
        const named: NamedByEvent =
          handlers === undefined && pipelines === undefined
            ? namedBy(event, definitionOf(dryRuns.moment().reader, event))
            : { handlers: handlers ?? [], pipelines: (pipelines ?? []).map((name) => ({ name })), isHandled: true };
        const result = await dryRun({ namespace, event, named }, dryRuns.ports(mayReadEvents(request, namespace)));
        return json(shownDryRun(result, event.check?.silenced ?? []));
      },
    },
  ];
}

/** @throws InvalidResource */
function names(body: Record<string, unknown>, member: string): string[] | undefined {
  const value = body[member];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value) || !value.every((name) => typeof name === 'string')) {
    throw new InvalidResource(`${member} must be an array of names`);
  }
  if (value.length > MAX_NAMES) throw new InvalidResource(`${member} must have at most ${MAX_NAMES} names`);
  return value;
}

import { type Static, Type } from 'typebox';
import type { NamespaceCount } from '../../actors/inspection/namespace-counts.ts';
import type { AccessControl } from '../../auth/access-control.ts';
import type { Caller } from '../../auth/caller.ts';
import { Forbidden } from '../../resources/errors.ts';
import { mapOf } from '../../resources/schema.ts';
import { json } from '../answer/answers.ts';
import { lists, nullable } from '../openapi/descriptions.ts';
import type { Route } from '../request/route.ts';

const NamespaceSummarySchema = Type.Object(
  {
    name: Type.String(),
    problems: nullable(
      Type.Object(
        {
          critical: Type.Integer(),
          warning: Type.Integer(),
          unknown: Type.Integer(),
          flapping: Type.Integer({ description: 'Those that flap and have passed last' }),
        },
        { description: 'Open events by their status, silenced ones included; null without the right to list events' },
      ),
    ),
    agents: nullable(
      mapOf(Type.Integer(), {
        description: 'Entities that sent keepalives, by state; null without the right to list entities',
      }),
    ),
  },
  { $id: 'mon/v1.NamespaceSummary' },
);

type NamespaceSummary = Static<typeof NamespaceSummarySchema>;

export interface NamespaceSummaryPorts {
  /** Counts until the client has disconnected. */
  namespaceCounts(isDisconnected: () => boolean): Promise<readonly NamespaceCount[]>;
  access: Pick<AccessControl, 'assertAllowed' | 'seesNamespace'>;
}

/** Shows the problems and agents of each namespace that the caller may see. */
export function namespaceSummaryRoutes({ namespaceCounts, access }: NamespaceSummaryPorts): Route[] {
  function mayList(caller: Caller, resource: 'events' | 'entities', namespace: string): boolean {
    try {
      access.assertAllowed(caller, { resource, verb: 'list', namespace, name: '' });
      return true;
    } catch (error) {
      if (error instanceof Forbidden) return false;
      throw error;
    }
  }

  return [
    {
      method: 'GET',
      path: '/api/mon/v1/namespace-summaries',
      access: 'authenticated',
      reads: 'nothing',
      description: {
        ...lists('namespaces that the caller may see, with their problems and agents', NamespaceSummarySchema, {}),
        tag: 'namespaces',
      },
      handle: async ({ caller, isDisconnected }) => {
        const counts = await namespaceCounts(isDisconnected);
        const shown = counts
          .filter(({ name }) => access.seesNamespace(caller, name))
          .map(({ name, problems, agents }): NamespaceSummary => {
            return {
              name,
              problems: mayList(caller, 'events', name) ? problems : null,
              agents: mayList(caller, 'entities', name) ? agents : null,
            };
          });
        return json(shown);
      },
    },
  ];
}

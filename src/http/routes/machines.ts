import { type Static, Type } from 'typebox';
import { json } from '../answer/answers.ts';
import { lists, nullable } from '../openapi/descriptions.ts';
import type { Route } from '../request/route.ts';

const TransitionSchema = Type.Object({
  event: Type.String(),
  guard: nullable(Type.String()),
  target: nullable(Type.String({ description: 'null where the state is not left' })),
  actions: Type.Array(Type.String()),
});

const MachineSchema = Type.Object(
  {
    machine: Type.String({ description: 'its word in the ledger' }),
    id: Type.String(),
    version: nullable(Type.String()),
    initial: nullable(Type.String()),
    events: Type.Array(Type.String()),
    states: Type.Array(
      Type.Object({
        name: Type.String(),
        isFinal: Type.Boolean(),
        description: nullable(Type.String()),
        entry: Type.Array(Type.String()),
        transitions: Type.Array(TransitionSchema),
      }),
    ),
  },
  { $id: 'mon/v1.Machine' },
);

export interface MachineRoutePorts {
  machines: readonly Static<typeof MachineSchema>[];
}

/** What state machines there are: the same in every backend of this version. */
export function machineRoutes({ machines }: MachineRoutePorts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/mon/v1/machines',
      access: 'authenticated',
      reads: 'nothing',
      description: { ...lists('the state machines', MachineSchema, {}), tag: 'machines' },
      handle: () => json(machines),
    },
  ];
}

import { Type } from 'typebox';
import type { PublishedMachine } from '../../actors/inspection/published-machines.ts';
import { NotFound } from '../../resources/errors.ts';
import { mapOf } from '../../resources/schema.ts';
import { json } from '../answer/answers.ts';
import { lists } from '../openapi/descriptions.ts';
import { param, type Route } from '../request/route.ts';

const MachineSchema = Type.Object(
  {
    machine: Type.String({ description: 'Kind name in the ledger and in session ids' }),
    id: Type.String(),
    version: Type.String({ description: 'Changes with the states, transitions or context of the machine' }),
    description: Type.String(),
    initial: Type.String(),
    states: Type.Array(Type.String(), { description: 'Top-level states, as in the ledger' }),
    events: Type.Array(Type.String()),
  },
  { $id: 'mon/v1.Machine' },
);

const DefinitionSchema = Type.Object(
  {
    id: Type.String(),
    version: Type.String(),
    description: Type.String(),
    initial: Type.String(),
    on: Type.Optional(mapOf(Type.Unknown())),
    states: mapOf(Type.Unknown(), { description: 'States by name; they may contain states' }),
  },
  {
    $id: 'mon/v1.MachineDefinition',
    description:
      'Configuration of an XState machine, which `createMachine` accepts. Guards, actions and delays are names, with parameters where these are constant.',
  },
);

export interface MachineRoutePorts {
  machines: readonly PublishedMachine[];
}

/** The state machines: the same in every backend of a version. */
export function machineRoutes({ machines }: MachineRoutePorts): Route[] {
  const list = machines.map(({ machine, events, definition: { id, version, description, initial, states } }) => ({
    machine,
    id,
    version,
    description,
    initial,
    states: Object.keys(states),
    events,
  }));
  return [
    {
      method: 'GET',
      path: '/api/mon/v1/machines',
      access: 'authenticated',
      reads: 'nothing',
      description: { ...lists('the state machines', MachineSchema, {}), tag: 'machines' },
      handle: () => json(list),
    },
    {
      method: 'GET',
      path: '/api/mon/v1/machines/:id',
      access: 'authenticated',
      reads: 'nothing',
      description: {
        summary: 'Show the definition of a state machine, by its id or by its kind name',
        answers: { 200: { schema: DefinitionSchema } },
        errors: ['not-found'],
        tag: 'machines',
      },
      handle: (request) => {
        const id = param(request, 'id');
        const found = machines.find(({ machine, definition }) => definition.id === id || machine === id);
        if (found === undefined) throw new NotFound(`there is no state machine "${id}"`);
        return json(found.definition);
      },
    },
  ];
}

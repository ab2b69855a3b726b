import type { DescribedMachine } from '../../actors/inspect-definition.ts';
import { json } from '../answers.ts';
import type { Route } from '../route.ts';

export interface MachineRoutePorts {
  machines: readonly DescribedMachine[];
}

/** What state machines there are: the same in every backend of this version. */
export function machineRoutes({ machines }: MachineRoutePorts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/mon/v1/machines',
      access: 'authenticated',
      reads: 'nothing',
      handle: () => json(machines),
    },
  ];
}

import { type Commands, WAKEABLE_ACTORS } from '../../actors/commands.ts';
import { NotFound } from '../../resources/errors.ts';
import { NO_CONTENT } from '../answers.ts';
import { param, type Route } from '../route.ts';

export interface ActorRoutePorts {
  commands: Pick<Commands, 'wake'>;
}

export function actorRoutes({ commands }: ActorRoutePorts): Route[] {
  return [
    {
      method: 'POST',
      path: '/api/mon/v1/actors/:actor/:key/wake',
      access: { resource: 'actors', verb: 'update', nameFrom: ['actor', 'key'] },
      reads: 'nothing',
      handle: async (request) => {
        const actor = WAKEABLE_ACTORS.find((word) => word === param(request, 'actor'));
        if (actor === undefined) throw new NotFound();
        await commands.wake(actor, param(request, 'key'), request.caller.username);
        return NO_CONTENT;
      },
    },
  ];
}

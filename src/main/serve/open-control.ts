import { createInitialResources } from '../../actors/administration/initial-resources.ts';
import type { ActorSystem } from '../../actors/system.ts';
import { prepareInitialResources } from '../init/initialise.ts';
import type { Closers } from './closers.ts';
import { serveControl } from './control-socket.ts';
import { close } from './listen.ts';

/** Serves the control socket, through which `init` initialises the store of the running backend. */
export async function openControl(path: string, system: ActorSystem, closers: Closers): Promise<void> {
  const control = await serveControl(path, {
    initialise: async (administrator) => {
      const prepared = await prepareInitialResources(administrator);
      await system.decider.decide({ cause: { user: administrator.username } }, (ctx) => {
        createInitialResources(ctx.decision, prepared, ctx.nowMs);
      }).durable;
    },
  });
  closers.add(() => close(control));
}

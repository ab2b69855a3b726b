import type { Inspection } from '../../actors/inspection/inspection.ts';
import { parseSince, type Since } from '../../actors/inspection/position.ts';
import type { AccessControl } from '../../auth/access-control.ts';
import type { Log } from '../../ports/log.ts';
import { type ActorAddress, parseActorAddresses } from '../../resources/actor-address.ts';
import type { WebSocketService } from '../upgrade/websocket-endpoint.ts';

/** The permission that an inspector needs. */
const ACCESS = { resource: 'inspect', verb: 'get', namespace: undefined, name: '' } as const;
const MAX_INSPECTORS = 8;

export interface InspectServicePorts {
  inspection: Pick<Inspection, 'attach' | 'assertReached'>;
  access: Pick<AccessControl, 'assertAllowed'>;
  log: Log;
}

interface Asked {
  addresses: ActorAddress[];
  since: Since | undefined;
}

/** `WS /debug/inspect`: what some actors do, in the messages of XState's inspector. */
export function inspectService({ inspection, access, log }: InspectServicePorts): WebSocketService<Asked> {
  return {
    clients: 'inspectors',
    maxClients: MAX_INSPECTORS,
    assertAllowed: (caller) => access.assertAllowed(caller, ACCESS),
    parse: (query) => {
      const addresses = parseActorAddresses(query.getAll('actor'));
      const asked = query.get('since');
      const since = asked === null ? undefined : parseSince(asked);
      if (since !== undefined) inspection.assertReached(since);
      return { addresses, since };
    },
    serve: (socket, { username }, { addresses, since }) => {
      log.info({ username, actors: addresses.length }, 'inspector connected');
      return inspection.attach(addresses, since, socket);
    },
  };
}

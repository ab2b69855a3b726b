import type { Server } from 'node:http';
import type { ActorSystem } from '../../actors/system.ts';
import type { InspectConfig } from '../../config/inspect-flags.ts';
import type { Auth } from '../../auth/auth.ts';
import { InspectEndpoint } from '../../http/inspector/inspector.ts';
import { InspectRelay } from '../../http/inspector/relay.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { ConnectionBound } from './connection-bound.ts';
import { ConnectionRefusal } from './connection-refusal.ts';

export interface InspectionPorts {
  system: ActorSystem;
  auth: Pick<Auth, 'access' | 'tickets'>;
  apiServer: Server;
  connections: ConnectionBound;
  clock: Clock;
  log: Log;
}

/** Opens the inspector and the relay to another inspector, as far as the configuration says so. The returned function closes them. */
export function openInspection({ inspect, inspectRelay }: InspectConfig, ports: InspectionPorts): () => Promise<void> {
  const { system, auth, apiServer, connections, clock, log } = ports;
  const { inspection } = system;
  const endpoint =
    inspect === true
      ? new InspectEndpoint({ inspection, tickets: auth.tickets, access: auth.access, clock, log })
      : undefined;
  if (endpoint !== undefined) {
    const refusal = new ConnectionRefusal(connections.limit);
    apiServer.on('upgrade', (request, socket, head) => {
      if (connections.isRefused(request.socket)) refusal.answerUpgrade(socket);
      else endpoint.upgrade(request, socket, head);
    });
  }
  const relay =
    inspectRelay === undefined
      ? undefined
      : new InspectRelay({ ...inspectRelay, inspection, clock, log, random: Math.random });
  relay?.start();
  return async () => {
    relay?.stop();
    await endpoint?.stop();
  };
}

import type { Server } from 'node:http';
import type { ActorSystem } from '../../actors/system.ts';
import type { InspectConfig } from '../../config/inspect-flags.ts';
import type { AccessControl } from '../../auth/access-control.ts';
import type { Api } from '../../http/app.ts';
import { InspectEndpoint } from '../../http/inspector/inspector.ts';
import { InspectRelay } from '../../http/inspector/relay.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';

export interface InspectionPorts {
  system: ActorSystem;
  api: Api;
  apiServer: Server;
  access: AccessControl;
  clock: Clock;
  log: Log;
}

/** Lets people watch state machines, where the configuration says so; the returned function ends it. */
export function openInspection({ inspect, inspectRelay }: InspectConfig, ports: InspectionPorts): () => Promise<void> {
  const { system, api, apiServer, access, clock, log } = ports;
  const { inspection } = system;
  const endpoint =
    inspect === true ? new InspectEndpoint({ inspection, tickets: api.tickets, access, clock, log }) : undefined;
  if (endpoint !== undefined) {
    apiServer.on('upgrade', (request, socket, head) => {
      endpoint.upgrade(request, socket, head);
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

import type { Server } from 'node:http';
import type { ActorSystem } from '../../actors/system.ts';
import type { InspectConfig } from '../../config/flags/inspect-flags.ts';
import type { Auth } from '../../auth/auth.ts';
import { inspectService } from '../../http/inspector/inspector.ts';
import { InspectRelay } from '../../http/inspector/relay.ts';
import { LiveService } from '../../http/live/live.ts';
import { INSPECT_PATH, LIVE_PATH } from '../../http/upgrade/paths.ts';
import { pathOf } from '../../http/request/request-path.ts';
import { WebSocketEndpoint } from '../../http/upgrade/websocket-endpoint.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';
import type { ConnectionBound } from './connection-bound.ts';
import { ConnectionRefusal } from './connection-refusal.ts';

export interface WebSocketPorts {
  system: ActorSystem;
  store: Pick<TransactionalStore, 'ledgerSlice' | 'ledgerHead'>;
  auth: Pick<Auth, 'access' | 'tickets'>;
  connections: ConnectionBound;
  clock: Clock;
  log: Log;
}

/** The WebSockets of the API. */
export interface WebSockets {
  /** A server that serves them must create its requests with `upgradableOn(paths)`. */
  readonly paths: ReadonlySet<string>;
  serveOn(server: Server): void;
  /** Closes all connections, and the one to a relay. */
  stop(): Promise<void>;
}

/**
 * Opens the live feed, and those of the inspector and the relay to another inspector that the configuration turns on.
 */
export function openWebSockets({ inspect, inspectRelay }: InspectConfig, ports: WebSocketPorts): WebSockets {
  const { system, store, auth, connections, clock } = ports;
  const { inspection } = system;
  const { access, tickets } = auth;
  const inspectLog = ports.log.child({ component: 'inspect' });
  const liveLog = ports.log.child({ component: 'live' });

  const ledger = store.ledgerSlice.bind(store);
  const live = new LiveService({ ledger, ledgerHead: () => store.ledgerHead(), access, tickets, clock, log: liveLog });
  system.listen({ announced: () => undefined, committed: () => live.advanced() });

  const endpoints = new Map<string, Pick<WebSocketEndpoint<unknown>, 'upgrade' | 'stop'>>();
  endpoints.set(LIVE_PATH, new WebSocketEndpoint(live, { tickets, access, clock, log: liveLog }));
  if (inspect === true) {
    const service = inspectService({ inspection, access, log: inspectLog });
    endpoints.set(INSPECT_PATH, new WebSocketEndpoint(service, { tickets, access, clock, log: inspectLog }));
  }

  const relayPorts = { inspection, clock, log: inspectLog, random: Math.random };
  const relay = inspectRelay === undefined ? undefined : new InspectRelay({ ...inspectRelay, ...relayPorts });
  relay?.start();
  const refusal = new ConnectionRefusal(connections.limit);
  return {
    paths: new Set(endpoints.keys()),
    serveOn: (server) =>
      void server.on('upgrade', (request, socket, head) => {
        if (connections.isRefused(request.socket)) refusal.answerUpgrade(socket);
        else endpoints.get(pathOf(request))?.upgrade(request, socket, head);
      }),
    stop: async () => {
      relay?.stop();
      await Promise.all([...endpoints.values()].map((endpoint) => endpoint.stop()));
    },
  };
}

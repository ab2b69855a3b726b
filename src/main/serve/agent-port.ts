import { createServer as createClearServer, type RequestListener } from 'node:http';
import { hasRoomFor } from '../../actors/entities/entity-limit.ts';
import { reportRequest, reportRings, reportWithheld } from '../../actors/schedules/schedule-reports.ts';
import type { ActorSystem } from '../../actors/system.ts';
import type { Auth } from '../../auth/auth.ts';
import type { BackendConfig } from '../../config/backend.ts';
import { resolveSecrets, type SecretValues } from '../../pipeline/secrets.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { Forbidden } from '../../resources/errors.ts';
import { type AgentUser, byCertificate, byPassword } from '../../sessions/handshake/agent-authentication.ts';
import { PORT_LIMITS } from '../../sessions/handshake/port-limits.ts';
import { AgentListener, type ListenerPorts } from '../../sessions/listener.ts';
import type { ResourceStore } from '../../store/resource-store.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';
import type { ConnectionBound } from './connection-bound.ts';

export interface AgentPortPorts {
  system: ActorSystem;
  store: TransactionalStore;
  resources: ResourceStore;
  auth: Pick<Auth, 'access' | 'credentials' | 'throttle'>;
  /** Serves `/health` and `/ready` on the port. */
  status: RequestListener;
  connections: ConnectionBound;
  secretValues: SecretValues;
  createServer: ListenerPorts['createServer'];
  backendName: string;
  clock: Clock;
  log: Log;
}

/** Creates the agent port, whose server does not listen yet, and makes the system use its rings. */
export function createAgentPort(config: BackendConfig, ports: AgentPortPorts): AgentListener {
  const { system, store, resources, auth, connections, secretValues, createServer = createClearServer } = ports;
  const { entityLimit = 0 } = config;
  const agentPort = new AgentListener({
    ...ports,
    createServer: (options) => {
      const server = createServer(options);
      connections.guard(server);
      return server;
    },
    isRefused: (socket) => connections.isRefused(socket),
    limits: {
      handshakes: PORT_LIMITS.handshakes,
      sessions: Math.min(PORT_LIMITS.sessions, connections.limit),
    },
    authenticate: authenticator(config, ports),
    mayCreateEvents: (user, namespace, agentName) => mayCreateEvents(auth.access, user, namespace, agentName),
    hasRoomFor: (namespace, name) => hasRoomFor(store, entityLimit, namespace, name),
    namespaceExists: (name) => resources.get('namespaces', undefined, name) !== undefined,
    requested: (announcement, receipts) => {
      reportRequest(system.decider, announcement, receipts);
    },
    withheld: (announcement, reason) => {
      const { adhoc, namespace, request } = announcement;
      const fields = { namespace, check: request.config.metadata.name, reason };
      if (adhoc) ports.log.warn(fields, 'agents with mutual TLS did not receive the request of a user');
      else reportWithheld(system.decider, announcement, reason);
    },
    resolveSecrets: ({ namespace, request }) => resolveSecrets(store, secretValues, namespace, request.config.secrets),
    ringsJoined: (session, subscriptions) => {
      reportRings(system.decider, session, subscriptions);
    },
    ...config.agent,
    admission: config.agentAdmission,
  });
  system.rings = agentPort;
  return agentPort;
}

/** Agents authenticate by certificate when the configuration says so, otherwise by user name and password. */
function authenticator({ tls }: BackendConfig, { resources, auth }: AgentPortPorts): ListenerPorts['authenticate'] {
  if (tls?.agentAuth !== undefined) {
    const { namesEntity } = tls.agentAuth;
    return byCertificate({ userOf: (name) => resources.get('users', undefined, name), namesEntity });
  }
  return byPassword(({ username, password }, remoteAddress) =>
    auth.throttle.login({ username, remoteAddress, entryPoint: 'agents' }, (onGuess) =>
      auth.credentials.verify(username, password, onGuess),
    ),
  );
}

function mayCreateEvents(access: Auth['access'], user: AgentUser, namespace: string, name: string): boolean {
  try {
    access.assertAllowed(user, { verb: 'create', resource: 'events', namespace, name });
    return true;
  } catch (error) {
    if (error instanceof Forbidden) return false;
    throw error;
  }
}

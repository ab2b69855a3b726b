import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AgentConfig } from '../../config/agent.ts';
import type { BackendConfig } from '../../config/backend.ts';
import { CannotListen, close, listen } from '../serve/listen.ts';

/** An address that the backend or the agent will listen on. */
export interface LocalAddress {
  program: 'backend' | 'agent';
  transport: 'tcp' | 'udp';
  host: string;
  port: number;
  /** The flags that set it. */
  flags: readonly string[];
}

/** A variable of the environment for each port, with a port that the defaults leave free. */
const OTHER_PORTS: readonly (readonly [variable: string, hostPrefix: string, port: number])[] = [
  ['MON_BACKEND_API_LISTEN_ADDRESS', '127.0.0.1:', 9080],
  ['MON_BACKEND_AGENT_PORT', '', 9081],
  ['MON_BACKEND_DASHBOARD_PORT', '', 9300],
  ['MON_BACKEND_LEGACY_API_LISTEN_ADDRESS', '127.0.0.1:', 9567],
  ['MON_API_PORT', '', 9031],
  ['MON_SOCKET_PORT', '', 9030],
  ['MON_STATSD_METRICS_PORT', '', 9125],
];
/** Each further set of ports is this much higher. */
const STEP = 1_000;
const MAX_SETS = 10;
const LOOPBACK = '127.0.0.1';

/** The addresses of both programs, without those whose port the system chooses. */
export function addressesOf(backend: BackendConfig, agent: AgentConfig): LocalAddress[] {
  const { api, dashboard, earlierApi } = backend;
  const tcp = (program: LocalAddress['program'], { host, port }: { host: string; port: number }, ...flags: string[]) =>
    ({ program, transport: 'tcp', host, port, flags }) as const;
  const inputs: (readonly [isEnabled: boolean, address: LocalAddress])[] = [
    [agent.api.isEnabled, tcp('agent', agent.api, 'api-port')],
    [agent.sockets.isEnabled, tcp('agent', agent.sockets, 'socket-port')],
    [agent.sockets.isEnabled, { ...tcp('agent', agent.sockets, 'socket-port'), transport: 'udp' }],
    [agent.statsd.isEnabled, { ...tcp('agent', agent.statsd, 'statsd-metrics-port'), transport: 'udp' }],
  ];
  return [
    tcp('backend', api, 'api-listen-address'),
    tcp('backend', backend.agent, 'agent-host', 'agent-port'),
    tcp('backend', dashboard, 'dashboard-host', 'dashboard-port'),
    ...(earlierApi?.listen ? [tcp('backend', earlierApi.listen, 'legacy-api-listen-address')] : []),
    ...inputs.filter(([isEnabled]) => isEnabled).map(([, address]) => address),
  ].filter(({ port }) => port !== 0);
}

/** Listens on each address for a moment. Returns a line for each one that cannot be used, with its program, its flags and the cause. */
export async function unusableAddresses(addresses: readonly LocalAddress[]): Promise<string[]> {
  const problems: string[] = [];
  for (const address of addresses) {
    const error = await errorOf(address);
    if (error === undefined) continue;
    const { message } = new CannotListen(address, error);
    const shown = address.transport === 'udp' ? message.replace('listen on', 'listen on UDP') : message;
    problems.push(`  the ${address.program} ${shown}`);
  }
  return problems;
}

/** The variables of a set of ports that are all free; undefined when there is none. */
export async function freePorts(): Promise<Record<string, string> | undefined> {
  for (let set = 0; set < MAX_SETS; set += 1) {
    const ports = OTHER_PORTS.map(([variable, prefix, port]) => ({ variable, prefix, port: port + set * STEP }));
    const areFree = await Promise.all(
      ports.map(async ({ port }) => {
        const errors = await Promise.all(
          (['tcp', 'udp'] as const).map((transport) => errorOf({ transport, host: LOOPBACK, port })),
        );
        return errors.every((error) => error === undefined);
      }),
    );
    if (!areFree.every(Boolean)) continue;
    return Object.fromEntries(ports.map(({ variable, prefix, port }) => [variable, `${prefix}${port}`]));
  }
  return undefined;
}

type Endpoint = Pick<LocalAddress, 'transport' | 'host' | 'port'>;

/** The error of listening on the address for a moment; undefined when there is none. */
async function errorOf({ transport, host, port }: Endpoint): Promise<NodeJS.ErrnoException | undefined> {
  try {
    if (transport === 'udp') await bindOnce(host, port);
    else {
      const server = createServer();
      await listen(server, { host, port });
      await close(server);
    }
    return undefined;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}

async function bindOnce(host: string, port: number): Promise<void> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  try {
    socket.bind({ address: host, port });
    await once(socket, 'listening');
  } finally {
    socket.close();
  }
}

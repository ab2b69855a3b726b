/** The state of the backend as load balancers and dashboards request it. Consumers are the workers of the pipeline. Source: spec/05 10. */
export interface Service {
  readonly version: string;
  /** A digest that changes with the configuration. */
  settingsDigest(): string;
  readonly hostname: string;
  readonly address: string;
  /** UUID. */
  readonly id: string;
  /** Whether the store can be written. */
  isStoreConnected(): boolean;
  /** Whether agents can connect. */
  isTransportConnected(): boolean;
  keepalives(): QueueState;
  results(): QueueState;
  /** CPU time of the process, seconds. */
  cpu(): { user: number; system: number };
}

export interface QueueState {
  messages: number;
  consumers: number;
}

const NO_STORE = 'not connected to redis';
const NO_TRANSPORT = 'not connected to transport';
const TASKS = ['check_request_publisher', 'client_monitor', 'check_result_monitor'];

/** The required state of the queues. */
export interface HealthLimits {
  minConsumers: number | undefined;
  maxMessages: number | undefined;
}

/** Returns the reasons why the service is not healthy; none when it is. */
export function problemsOf(service: Service, { minConsumers = 0, maxMessages = Infinity }: HealthLimits): string[] {
  const disconnected = [
    ...(service.isStoreConnected() ? [] : [NO_STORE]),
    ...(service.isTransportConnected() ? [] : [NO_TRANSPORT]),
  ];
  if (disconnected.length > 0) return disconnected;
  const queues = [
    ['keepalive', service.keepalives()],
    ['result', service.results()],
  ] as const;
  const consumers = queues
    .filter(([, queue]) => queue.consumers < minConsumers)
    .map(([name, queue]) => `${name} consumers (${queue.consumers}) less than min_consumers (${minConsumers})`);
  const messages = queues
    .filter(([, queue]) => queue.messages > maxMessages)
    .map(([name, queue]) => `${name} messages (${queue.messages}) greater than max_messages (${maxMessages})`);
  return [...consumers, ...messages];
}

const UNKNOWN_QUEUE = { messages: null, consumers: null };

/** Returns the description that dashboards parse. */
export function infoOf(service: Service, nowS: number): object {
  const { version, id, hostname, address } = service;
  const isConnected = service.isTransportConnected();
  const sensu = { version, settings: { hexdigest: service.settingsDigest() } };
  return {
    sensu,
    transport: {
      name: 'embedded',
      keepalives: isConnected ? service.keepalives() : UNKNOWN_QUEUE,
      results: isConnected ? service.results() : UNKNOWN_QUEUE,
      connected: isConnected,
    },
    redis: { connected: service.isStoreConnected() },
    servers: [
      {
        id,
        hostname,
        address,
        tasks: TASKS,
        metrics: { cpu: service.cpu() },
        sensu,
        tessen: { enabled: false },
        timestamp: nowS,
      },
    ],
  };
}

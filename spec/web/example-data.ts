import type { ApiClient } from '../support/api-client.ts';

const NAMESPACE = '/api/core/v2/namespaces/default';
const metadata = (name: string) => ({ name, namespace: 'default' });

const HANDLERS = [
  {
    metadata: metadata('page-duty'),
    type: 'pipe',
    command: 'cat >/dev/null',
    filters: ['is_incident', 'not_silenced'],
  },
  {
    metadata: metadata('chat'),
    type: 'pipe',
    command: 'echo the chat server is down >&2; exit 1',
    filters: ['is_incident'],
  },
];

const CHECKS = [
  { metadata: metadata('disk'), command: 'check_disk -w 15% -c 5%', interval: 60, subscriptions: ['linux'] },
  { metadata: metadata('load'), command: 'check_load', interval: 30, subscriptions: ['linux'] },
  { metadata: metadata('https'), command: 'check_http -S', cron: '*/5 * * * *', subscriptions: ['web'], publish: true },
  { metadata: metadata('replication'), command: 'check_postgres', interval: 60, ttl: 300, subscriptions: ['db'] },
].map((check) => ({ publish: false, ...check, handlers: ['page-duty'] }));

interface Example {
  entity: string;
  check: string;
  statuses: readonly number[];
  output: string;
  labels?: Record<string, string>;
  handlers?: readonly string[];
}

const OK = [0, 0, 0, 0];
const EVENTS: readonly Example[] = [
  {
    entity: 'db-1',
    check: 'replication',
    statuses: [...OK, 1, 2, 2, 2],
    output: 'CRITICAL: standby is 4812 s behind',
    labels: { site: 'zurich', team: 'data' },
  },
  {
    entity: 'web-3',
    check: 'https',
    statuses: [...OK, 2],
    output: 'CRITICAL: certificate of shop.example expired 2 h ago',
    labels: { site: 'geneva', team: 'shop' },
  },
  {
    entity: 'web-1',
    check: 'disk',
    statuses: [...OK, 1, 1, 1],
    output: 'WARNING: /var is 88% full',
    labels: { site: 'zurich', team: 'shop' },
  },
  {
    entity: 'cache-2',
    check: 'memory',
    statuses: [0, 1, 0, 1, 1],
    output: 'WARNING: 91% of memory is in use',
    labels: { site: 'zurich', team: 'shop' },
    handlers: ['chat'],
  },
  {
    entity: 'switch-7',
    check: 'port-4',
    statuses: [0, 3],
    output: 'UNKNOWN: no answer from the SNMP agent',
    labels: { site: 'basel', team: 'network' },
    handlers: [],
  },
  {
    entity: 'mail-1',
    check: 'queue',
    statuses: [...OK, 2, 2],
    output: 'CRITICAL: 18204 messages are waiting',
    labels: { site: 'basel', team: 'mail' },
  },
  {
    entity: 'web-2',
    check: 'load',
    statuses: [...OK, ...OK],
    output: 'OK: load average 0.42, 0.38, 0.35',
    labels: { site: 'zurich', team: 'shop' },
  },
  {
    entity: 'db-2',
    check: 'disk',
    statuses: OK,
    output: 'OK: /var is 41% full',
    labels: { site: 'geneva', team: 'data' },
  },
];

/** Creates what the pictures and many tests show: checks, handlers, events in all states, and a silence. */
export async function createExample(api: ApiClient): Promise<void> {
  for (const handler of HANDLERS) await api.put(`${NAMESPACE}/handlers/${handler.metadata.name}`, handler);
  for (const check of CHECKS) await api.put(`${NAMESPACE}/checks/${check.metadata.name}`, check);
  for (const { entity, check, statuses, output, labels = {}, handlers = ['page-duty'] } of EVENTS) {
    for (const status of statuses) {
      await putEvent(api, entity, check, status, { output: status === 0 ? 'OK' : output, handlers }, labels);
    }
  }
  await api.post(`${NAMESPACE}/silenced`, {
    metadata: { namespace: 'default' },
    subscription: 'entity:mail-1',
    check: 'queue',
    expire: 7_200,
    reason: 'the provider throttles us, ticket 4711',
  });
}

export const LONG_ENTITY = 'payments-gateway-blue-07.europe-west6.compute.internal.example';
export const LONG_CHECK = 'upstream-connections-over-tls';
const MINUTE_MS = 60_000;
const MINUTES = 60;

/** Creates an event whose names, labels and output are long. */
export function createLongNames(api: ApiClient): Promise<void> {
  const labels = { 'app.kubernetes.io/managed-by': 'platform-engineering', region: 'europe-west6' };
  const output = 'CRITICAL: 3 of 5 upstreams refuse connections: 10.4.12.7:8443, 10.4.12.9:8443, 10.4.13.2:8443';
  return putEvent(api, LONG_ENTITY, LONG_CHECK, 2, { output, handlers: ['chat'] }, labels);
}

interface Backend {
  clock: { nowMs(): number; advance(ms: number): Promise<void> };
}

/** Creates an event with an hour of metrics and the results of hooks, on a backend whose clock the caller advances. */
export async function createMetrics(api: ApiClient, { clock }: Backend): Promise<void> {
  const hook = (name: string, command: string, status: number, output: string) => {
    return { metadata: metadata(name), command, status, output, executed: Math.floor(clock.nowMs() / 1_000) };
  };
  for (let minute = 0; minute < MINUTES; minute += 1) {
    const load = 0.6 + Math.sin(minute / 6) * 0.3 + Math.max(0, minute - 45) * 0.22;
    const isHigh = load > 2;
    const nowS = Math.floor(clock.nowMs() / 1_000);
    const points = [
      { name: 'load.one', value: load, timestamp: nowS, tags: [{ name: 'host', value: 'web-2' }] },
      { name: 'memory.used_percent', value: 61 + Math.cos(minute / 9) * 8, timestamp: nowS, tags: [] },
      { name: 'requests.per_second', value: 420 - load * 55 + (minute % 5) * 9, timestamp: nowS, tags: [] },
    ];
    const { status, text } = await api.put(`${NAMESPACE}/events/web-2/load`, {
      timestamp: nowS,
      entity: { entity_class: 'proxy', metadata: { ...metadata('web-2'), labels: { site: 'zurich', team: 'shop' } } },
      check: {
        metadata: metadata('load'),
        interval: 60,
        status: isHigh ? 1 : 0,
        executed: nowS,
        issued: nowS,
        output: `${isHigh ? 'WARNING' : 'OK'}: load average ${load.toFixed(2)}`,
        handlers: ['page-duty'],
        hooks: isHigh
          ? [
              hook(
                'processes',
                'ps -eo pcpu,comm --sort=-pcpu | head -4',
                0,
                '%CPU COMMAND\n88.1 convert\n12.4 postgres',
              ),
              hook('sockets', 'ss -s', 127, 'sh: ss: not found'),
            ]
          : [],
      },
      metrics: { handlers: [], points },
    });
    if (status >= 300) throw new Error(`the metrics were answered with ${status}: ${text}`);
    if (minute < MINUTES - 1) await clock.advance(MINUTE_MS);
  }
}

/** Sends a result of a check. */
export async function putEvent(
  api: ApiClient,
  entity: string,
  check: string,
  status: number,
  changes: object = {},
  labels: Record<string, string> = {},
): Promise<void> {
  const { status: answered, text } = await api.put(`${NAMESPACE}/events/${entity}/${check}`, {
    timestamp: Math.floor(Date.now() / 1_000),
    entity: { entity_class: 'proxy', metadata: { ...metadata(entity), labels } },
    check: {
      metadata: metadata(check),
      interval: 60,
      status,
      executed: Math.floor(Date.now() / 1_000),
      issued: Math.floor(Date.now() / 1_000),
      output: `status ${status}`,
      ...changes,
    },
  });
  if (answered >= 300) throw new Error(`PUT of ${entity}/${check} answered ${answered}: ${text}`);
}

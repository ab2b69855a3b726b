import { InvalidResource } from '../../resources/errors.ts';
import { text } from '../answers.ts';
import type { Answer, Route } from '../route.ts';

export interface StatusRoutePorts {
  /** Whether the store could be read and written within the time. */
  probe: (timeoutMs: number) => Promise<boolean>;
  memberId: number;
  clusterId: number;
  /** Of this program. */
  version: string;
}

const DEFAULT_TIMEOUT_S = 3;
/** When no limit is asked for: later the connection is cut anyway. */
const LONGEST_PROBE_MS = 15_000;
const MAX_INTEGER = 9_223_372_036_854_775_807n;
/** The version of the reference whose interface this is: clients decide by it. */
const COMPATIBLE_WITH = {
  etcd: { etcdserver: '3.5.5', etcdcluster: '3.5.0' },
  sensu_backend: '6.9.2',
  api_groups: { 'core/v2': 'v2.16.0', 'core/v3': 'v3.8.0' },
};

export function statusRoutes({ probe, memberId, clusterId, version }: StatusRoutePorts): Route[] {
  const health = async (query: URLSearchParams): Promise<Answer> => {
    const healthy = await probe(timeoutMs(query.get('timeout') ?? ''));
    const member = {
      MemberID: memberId,
      MemberIDHex: memberId.toString(16),
      Name: 'default',
      Err: healthy ? '' : 'the store did not answer in time',
      Healthy: healthy,
    };
    const Header = { cluster_id: clusterId, member_id: memberId, raft_term: 1 };
    return {
      status: healthy || query.get('strict') !== 'true' ? 200 : 503,
      type: 'application/json',
      body: `${JSON.stringify({ Alarms: null, ClusterHealth: [member], Header })}\n`,
    };
  };

  return [
    {
      method: 'GET',
      path: '/health',
      access: 'open',
      reads: 'nothing',
      errorsAs: 'text',
      handle: ({ query }) => health(query),
    },
    {
      method: 'GET',
      path: '/ready',
      access: 'open',
      reads: 'nothing',
      handle: () => text(200, 'ready\n'),
    },
    {
      method: 'GET',
      path: '/version',
      access: 'open',
      reads: 'nothing',
      handle: () => ({
        status: 200,
        type: 'application/json',
        body: `${JSON.stringify({ ...COMPATIBLE_WITH, mon_backend: version })}\n`,
      }),
    },
  ];
}

/** From whole seconds; 0 and less are no limit. @throws InvalidResource with the text that clients know */
function timeoutMs(seconds: string): number {
  if (seconds === '') return DEFAULT_TIMEOUT_S * 1000;
  if (!/^[+-]?\d+$/.test(seconds)) throw unreadable(seconds, 'invalid syntax');
  const value = BigInt(seconds.replace('+', ''));
  if (value > MAX_INTEGER || value < -MAX_INTEGER) throw unreadable(seconds, 'value out of range');
  return value <= 0n ? LONGEST_PROBE_MS : Math.min(Number(value) * 1000, LONGEST_PROBE_MS);
}

const unreadable = (seconds: string, why: string): InvalidResource =>
  new InvalidResource(`strconv.Atoi: parsing ${JSON.stringify(seconds)}: ${why}`);

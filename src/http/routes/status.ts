import { Type } from 'typebox';
import { text } from '../answer/answers.ts';
import { nullable, TEXT } from '../openapi/descriptions.ts';
import type { Answer, Route } from '../request/route.ts';
import { TIMEOUT_DESCRIPTION, timeoutMsOf } from '../request/timeout.ts';

export interface StatusRoutePorts {
  /** Whether the store could be read and written within the time limit, ms. */
  probe: (timeoutMs: number) => Promise<boolean>;
  memberId: number;
  /** `default` unless it is given. */
  memberName?: string | undefined;
  clusterId: number;
  /** Version of this program. */
  version: string;
  /** Whether the store has reached its quota; never when absent. */
  isStoreFull?: (() => boolean) | undefined;
  /** Whether the memory is nearly used up; never when absent. */
  isMemoryFull?: (() => boolean) | undefined;
}

/** Version of the reference implementation whose API this is; clients select features by it. */
const COMPATIBLE_WITH = {
  etcd: { etcdserver: '3.5.5', etcdcluster: '3.5.0' },
  sensu_backend: '6.9.2',
  api_groups: { 'core/v2': 'v2.16.0', 'core/v3': 'v3.8.0' },
};

/** The number of this alarm in the reference. */
const NO_SPACE = 1;
/** The reference has none for the memory; its numbers end at 2. */
const NO_MEMORY = 3;

const TAG = 'status';
const HealthSchema = Type.Object(
  {
    Alarms: nullable(
      Type.Array(
        Type.Object({
          memberID: Type.Integer(),
          alarm: Type.Integer({ description: '1: the store has reached its quota; 3: the memory is nearly used up' }),
        }),
      ),
    ),
    ClusterHealth: Type.Array(
      Type.Object({
        MemberID: Type.Integer(),
        MemberIDHex: Type.String(),
        Name: Type.String(),
        Err: Type.String(),
        Healthy: Type.Boolean(),
      }),
    ),
    Header: nullable(Type.Object({ cluster_id: Type.Integer(), member_id: Type.Integer(), raft_term: Type.Integer() })),
  },
  { $id: 'mon/v1.Health' },
);
const VersionSchema = Type.Object(
  {
    etcd: Type.Object({ etcdserver: Type.String(), etcdcluster: Type.String() }),
    sensu_backend: Type.String({ description: 'Version of the API that this backend is compatible with' }),
    api_groups: Type.Object({}, { additionalProperties: Type.String() }),
    mon_backend: Type.String({ description: 'Version of this backend' }),
  },
  { $id: 'mon/v1.Version' },
);
const HEALTH_QUERY = {
  timeout: Type.Integer({ description: TIMEOUT_DESCRIPTION }),
  strict: Type.Boolean({ description: 'Respond with 503 when the store is not healthy' }),
};

export function statusRoutes({
  probe,
  memberId,
  memberName = 'default',
  clusterId,
  version,
  isStoreFull = () => false,
  isMemoryFull = () => false,
}: StatusRoutePorts): Route[] {
  const health = async (query: URLSearchParams): Promise<Answer> => {
    const healthy = await probe(timeoutMsOf(query));
    const alarms = [...(isStoreFull() ? [NO_SPACE] : []), ...(isMemoryFull() ? [NO_MEMORY] : [])];
    const isFull = alarms.length > 0;
    const member = {
      MemberID: memberId,
      MemberIDHex: memberId.toString(16),
      Name: memberName,
      Err: healthy ? '' : 'the store did not answer in time',
      Healthy: healthy,
    };
    const Alarms = isFull ? alarms.map((alarm) => ({ memberID: memberId, alarm })) : null;
    const Header = { cluster_id: clusterId, member_id: memberId, raft_term: 1 };
    return {
      status: (healthy && !isFull) || query.get('strict') !== 'true' ? 200 : 503,
      type: 'application/json',
      body: `${JSON.stringify({ Alarms, ClusterHealth: [member], Header })}\n`,
    };
  };

  return [
    {
      method: 'GET',
      path: '/health',
      access: 'open',
      reads: 'nothing',
      availableAtStartup: true,
      errorsAs: 'text',
      description: {
        summary: 'Check that the store can be read and written',
        tag: TAG,
        query: HEALTH_QUERY,
        answers: { 200: { schema: HealthSchema }, 503: { schema: HealthSchema } },
      },
      handle: ({ query }) => health(query),
    },
    {
      method: 'GET',
      path: '/ready',
      access: 'open',
      reads: 'nothing',
      description: { summary: 'Check that the API accepts requests', tag: TAG, answers: { 200: TEXT } },
      handle: () => text(200, 'ready\n'),
    },
    {
      method: 'GET',
      path: '/version',
      access: 'open',
      reads: 'nothing',
      availableAtStartup: true,
      description: { summary: 'Show the version', tag: TAG, answers: { 200: { schema: VersionSchema } } },
      handle: () => ({
        status: 200,
        type: 'application/json',
        body: `${JSON.stringify({ ...COMPATIBLE_WITH, mon_backend: version })}\n`,
      }),
    },
  ];
}

import { Type } from 'typebox';
import type { Verb } from '../../rules/rbac.ts';
import { InvalidResource, NotSupported } from '../../resources/errors.ts';
import { json } from '../answer/answers.ts';
import { CORE, type DescribedAnswer, param, type Route, type RouteRequest } from '../request/route.ts';
import { TIMEOUT_DESCRIPTION, timeoutMsOf } from '../request/timeout.ts';

export interface ClusterRoutePorts {
  clusterId: number;
  memberId: number;
  /** `default` unless it is given. */
  memberName?: string | undefined;
  /** The URL of the API; by default the one that the caller used. */
  apiUrl?: string | undefined;
  /** Permanent id of this installation. */
  clusterUuid: string;
}

const MEMBERS = `${CORE}/cluster/members`;
const MEMBER = `${MEMBERS}/:memberId`;
const TAG = 'cluster';
const HEX = /^[0-9a-f]+$/i;
const MAX_ID = 2n ** 64n - 1n;

const TIMEOUT = { timeout: Type.Integer({ description: TIMEOUT_DESCRIPTION }) };
const ADDRESSES = { 'peer-addrs': Type.String({ description: 'Peer addresses, separated by commas' }) };
const PeersSchema = Type.Object(ADDRESSES, { $id: 'mon/v1.ClusterPeers' });
const MembersSchema = Type.Object(
  {
    header: Type.Object({ cluster_id: Type.Integer(), member_id: Type.Integer(), raft_term: Type.Integer() }),
    members: Type.Array(
      Type.Object({
        ID: Type.Integer(),
        name: Type.String(),
        peerURLs: Type.Array(Type.String()),
        clientURLs: Type.Array(Type.String()),
      }),
    ),
  },
  { $id: 'mon/v1.ClusterMembers' },
);
const MEMBERS_RESPONSE: DescribedAnswer = { schema: MembersSchema };

/** A backend reports itself as a cluster with one member. Members cannot be added or removed. */
export function clusterRoutes({
  clusterId,
  memberId,
  memberName = 'default',
  apiUrl,
  clusterUuid,
}: ClusterRoutePorts): Route[] {
  const members = ({ protocol, host }: RouteRequest): object => {
    const urls = [apiUrl ?? `${protocol}://${host}`];
    return {
      header: { cluster_id: clusterId, member_id: memberId, raft_term: 1 },
      members: [{ ID: memberId, name: memberName, peerURLs: urls, clientURLs: urls }],
    };
  };

  return [
    {
      ...routeOf('GET', MEMBERS, 'list', 'List the members of the cluster'),
      handle: (request) => {
        timeoutMsOf(request.query);
        return json(members(request));
      },
    },
    {
      ...routeOf('POST', MEMBERS, 'create', 'Add a member (not supported)'),
      handle: (request) => {
        timeoutMsOf(request.query);
        assertPeers(request);
        throw new NotSupported();
      },
    },
    {
      ...routeOf('PUT', MEMBER, 'update', 'Change the addresses of a member (not supported)'),
      handle: (request) => {
        timeoutMsOf(request.query);
        assertPeers(request);
        assertMemberId(param(request, 'memberId'));
        throw new NotSupported();
      },
    },
    {
      ...routeOf('DELETE', MEMBER, 'delete', 'Remove a member (not supported)'),
      handle: (request) => {
        timeoutMsOf(request.query);
        assertMemberId(param(request, 'memberId'));
        throw new NotSupported();
      },
    },
    {
      method: 'GET',
      path: `${CORE}/cluster/id`,
      access: accessTo('list'),
      reads: 'nothing',
      errorsAs: 'text',
      description: { summary: 'Show the id of the cluster', tag: TAG, answers: { 200: { schema: Type.String() } } },
      handle: () => json(clusterUuid),
    },
  ];
}

/** No role names this resource, so access requires a role for all resources (`*`). */
const accessTo = (verb: Verb): Route['access'] => ({ resource: '', verb });

function routeOf(method: Route['method'], path: string, verb: Verb, summary: string): Omit<Route, 'handle'> {
  const takesPeers = method === 'POST' || method === 'PUT';
  return {
    method,
    path,
    access: accessTo(verb),
    reads: takesPeers ? 'form' : 'nothing',
    errorsAs: 'text',
    description: {
      summary,
      tag: TAG,
      query: takesPeers ? { ...TIMEOUT, ...ADDRESSES } : TIMEOUT,
      ...(takesPeers ? { body: PeersSchema } : {}),
      answers: { 200: MEMBERS_RESPONSE },
    },
  };
}

/** @throws InvalidResource */
function assertPeers({ body, query }: RouteRequest): void {
  const form = body as Readonly<Record<string, string>>;
  const addresses = form['peer-addrs'] || query.get('peer-addrs') || '';
  if (addresses === '') throw new InvalidResource('missing peer-addrs form value');
}

/** @throws InvalidResource */
function assertMemberId(id: string): void {
  const invalidId = (problem: string): InvalidResource =>
    new InvalidResource(`bad id (${id}): strconv.ParseUint: parsing ${JSON.stringify(id)}: ${problem}`);
  if (!HEX.test(id)) throw invalidId('invalid syntax');
  if (BigInt(`0x${id}`) > MAX_ID) throw invalidId('value out of range');
}

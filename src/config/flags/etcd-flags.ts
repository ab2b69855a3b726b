import { kinds, type Rule, withoutEffect } from '../parsing/flags.ts';
import type { FlagValues } from '../parsing/flag.ts';

const OWN_STORE = 'mon keeps its data in a store of its own in --state-dir';
const NO_CLUSTER = 'mon runs as one process, without a cluster';
const NO_PORT = 'the store of mon opens no port';
const MAX_COUNT = Number.MAX_SAFE_INTEGER;

/** The flags of the store of the reference that would change nothing about the store of `mon-backend`, which ignores them. */
export const ignoredEtcdFlags = {
  ...withoutEffect(NO_PORT, {
    'etcd-listen-client-urls': kinds.list,
    'etcd-advertise-client-urls': kinds.list,
    'etcd-client-urls': kinds.list,
    'etcd-listen-peer-urls': kinds.list,
    'etcd-initial-advertise-peer-urls': kinds.list,
    'etcd-cert-file': kinds.text,
    'etcd-key-file': kinds.text,
    'etcd-trusted-ca-file': kinds.text,
    'etcd-client-cert-auth': kinds.boolean,
    'etcd-peer-cert-file': kinds.text,
    'etcd-peer-key-file': kinds.text,
    'etcd-peer-trusted-ca-file': kinds.text,
    'etcd-peer-client-cert-auth': kinds.boolean,
  }),
  ...withoutEffect(NO_CLUSTER, {
    'etcd-initial-cluster': kinds.text,
    'etcd-initial-cluster-state': kinds.text,
    'etcd-initial-cluster-token': kinds.text,
    'etcd-heartbeat-interval': kinds.integer(0, MAX_COUNT),
    'etcd-election-timeout': kinds.integer(0, MAX_COUNT),
    'etcd-discovery': kinds.text,
    'etcd-discovery-srv': kinds.text,
  }),
  ...withoutEffect(OWN_STORE, {
    'etcd-log-level': kinds.text,
    'etcd-client-log-level': kinds.text,
    'no-embed-etcd': kinds.boolean,
  }),
};

/** The same for `init` and `upgrade`, which share the settings of `start`. */
export const etcdFlags = {
  ...ignoredEtcdFlags,
  ...withoutEffect('this command opens the store in --state-dir itself', {
    'etcd-cipher-suites': kinds.list,
    'etcd-name': kinds.text,
    'etcd-unsafe-no-fsync': kinds.boolean,
    'etcd-max-request-bytes': kinds.integer(0, MAX_COUNT),
    'etcd-quota-backend-bytes': kinds.integer(-MAX_COUNT, MAX_COUNT),
  }),
};

type Values = FlagValues<typeof ignoredEtcdFlags>;

const clusterRule = (flag: 'etcd-initial-cluster' | 'etcd-discovery' | 'etcd-discovery-srv', max: number) => ({
  flags: [flag],
  broken: (values: Values) =>
    (values[flag] ?? '').split(',').filter((member) => member !== '').length > max
      ? `${flag}: clustering is not supported`
      : undefined,
});

/** Refuses settings that mon would split or lose data by ignoring. */
export const etcdRules: readonly Rule<typeof ignoredEtcdFlags>[] = [
  clusterRule('etcd-initial-cluster', 1),
  clusterRule('etcd-discovery', 0),
  clusterRule('etcd-discovery-srv', 0),
  {
    flags: ['no-embed-etcd'],
    broken: (values) =>
      values['no-embed-etcd'] === true ? 'no-embed-etcd: an external datastore is not supported' : undefined,
  },
];

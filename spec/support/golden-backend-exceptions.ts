import type { GoldenException } from './golden-exception.ts';

const JSON_TYPE = { headers: { 'content-type': 'application/json' } };
/** The recorded steps that are JSON with the media type of text. */
const JSON_AS_TEXT: Readonly<Record<string, readonly number[]>> = {
  init: [17],
  probes: [3, 4, 7, 11, 15, 16, 17, 18, 19, 35, 37, 38],
};

const COMMON = ['assets', 'checks', 'entities', 'events', 'filters', 'handlers', 'hooks', 'mutators', 'pipelines'];
const rule = (verbs: string[], resources: string[]) => ({ verbs, resources, resource_names: null });
const READS = ['get', 'list'];
const CLUSTER_ROLES = [
  {
    rules: [rule(['*'], [...COMMON, 'silenced', 'roles', 'rolebindings']), rule(READS, ['namespaces'])],
    metadata: { name: 'admin' },
  },
  { rules: [rule(['*'], ['*'])], metadata: { name: 'cluster-admin' } },
  { rules: [rule(['*'], [...COMMON, 'silenced']), rule(READS, ['namespaces'])], metadata: { name: 'edit' } },
  { rules: [rule(['*'], ['events'])], metadata: { name: 'system:agent' } },
  { rules: [rule(['get', 'update'], ['localselfuser'])], metadata: { name: 'system:user' } },
  { rules: [rule(READS, [...COMMON, 'silenced', 'namespaces'])], metadata: { name: 'view' } },
];

/** Steps of the recordings of the backend program at which mon acts otherwise, and why. */
export const BACKEND_EXCEPTIONS: readonly GoldenException[] = [
  ...Object.entries(JSON_AS_TEXT).flatMap(([name, steps]) =>
    steps.map((step) => ({
      recording: `backend/${name}.json`,
      step,
      ours: JSON_TYPE,
      why: 'JSON has the media type of JSON',
    })),
  ),
  {
    recording: 'backend/init-key.json',
    step: 4,
    ours: { ...JSON_TYPE, text: '{"message":"invalid credentials","code":5}' },
    why: 'JSON has the media type of JSON, and the members of an error are in lower case',
  },
  ...[6, 7, 24, 27].map((step) => ({
    recording: 'backend/init.json',
    step,
    ours: { exit: 1, stdout: '' },
    why: 'a password shorter than eight characters is a mistake, whatever the store contains',
  })),
  {
    recording: 'backend/init.json',
    step: 11,
    ours: { text: JSON.stringify(CLUSTER_ROLES) },
    why: 'the roles admin, edit and view have rights to pipelines',
  },
  ...[19, 20].map((step) => ({
    recording: 'backend/init.json',
    step,
    ours: { stdout: 'nothing was upgraded: version <string> has no datastore changes\n' },
    why: 'the result of an upgrade is on standard output',
  })),
  {
    recording: 'backend/init.json',
    step: 21,
    ours: { exit: 0, stdout: '<string>' },
    why: 'an upgrade that has nothing to do asks for no confirmation',
  },
  {
    recording: 'backend/probes.json',
    step: 36,
    ours: { status: 302, headers: undefined, text: '<string>' },
    why: 'the root of the API port leads to the documentation page',
  },
  ...[12, 18].map((step) => ({
    recording: 'backend/signals.json',
    step,
    ours: { status: 200 },
    why: 'the seed: PUT of an event answers 200',
  })),
];

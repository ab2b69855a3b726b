import type { GoldenException } from './golden-exception.ts';
import { PIPELINE_EXCEPTIONS } from './golden-pipeline-exceptions.ts';

/** Without empty members, because protobuf does not encode them. */
const W_ASSET = {
  url: 'https://assets.example/a.tar.gz',
  sha512: 'ab'.repeat(64),
  filters: ["entity.system.os == 'linux'"],
  metadata: { name: 'w-asset', namespace: 'default', created_by: 'admin' },
  headers: { 'X-A': 'b' },
};

const ISSUED = { issued: '<unix>', message: undefined, code: undefined };
const CREATED = { status: 201, body: undefined, text: '' };
const NO_FILTER = {
  metadata: undefined,
  action: undefined,
  expressions: undefined,
  when: undefined,
  runtime_assets: undefined,
};
const NOT_FOUND = {
  status: 404,
  headers: undefined,
  body: { ...NO_FILTER, message: 'not found', code: 2 },
  text: undefined,
};
const DELETED = { status: 204, body: undefined, text: '' };

/** Steps at which the seed or another recording overrules a recording (docs/decisions/0009). All other steps are replayed unchanged. */
export const GOLDEN_EXCEPTIONS: readonly GoldenException[] = [
  {
    recording: 'rest/01-routing.json',
    step: 8,
    ours: { status: 302, body: undefined, text: '<string>' },
    why: 'the root of the API port leads to the documentation page',
  },
  {
    recording: 'state/odd-events.json',
    step: 15,
    ours: { status: 404, json: { message: 'not found', code: 2 } },
    why: 'the seed: 404 for the events of an entity that has none',
  },
  {
    recording: 'state/proxy.json',
    step: 13,
    ours: { entity: { subscriptions: ['net', 'entity:st-sw-2'] } },
    why: 'rest/15-entities step 8: an entity made by API has its own subscription',
  },
  {
    recording: 'wire/class-repair.json',
    step: 6,
    ours: { check: { output: 'entity registered' }, id: '<uuid>' },
    why: 'state/registration step 8: a registration event has an id; its output says what it is',
  },
  ...[
    { step: 8, ours: { json: { subscriptions: ['s1', 'entity:w-cls'] } } },
    { step: 9, ours: { subscriptions: ['s1', 'entity:w-cls'] } },
    { step: 12, ours: { json: { subscriptions: ['zz', 'entity:w-px'] } } },
    { step: 13, ours: { subscriptions: ['zz', 'entity:w-px'] } },
    { step: 16, ours: { subscriptions: ['zz', 'entity:w-px'] } },
  ].map((exception) => ({
    ...exception,
    recording: 'wire/class-repair.json',
    why: 'rest/15-entities step 8: an entity made by API has its own subscription',
  })),
  ...[
    { step: 35, ours: { status: 202, body: ISSUED } },
    { step: 41, ours: { status: 404, body: { message: 'not found', code: 2 } } },
    { step: 42, ours: { status: 202, body: ISSUED } },
  ].map((exception) => ({
    ...exception,
    recording: 'rest/14-check-sub.json',
    why: 'an empty body is accepted, as in schedule/requests',
  })),
  ...PIPELINE_EXCEPTIONS,
  ...[7, 44].map((step) => ({
    recording: 'rest/01-routing.json',
    step,
    ours: { status: 400, body: undefined, text: '' },
    why: 'Node refuses methods that HTTP does not define, before the service sees the request',
  })),
  {
    recording: 'rest/02-unauthenticated.json',
    step: 10,
    ours: { body: { mon_backend: '<string>' } },
    why: 'its own note: further members are allowed',
  },
  ...[
    { step: 25, ours: { status: 400, body: { message: '<string>', code: 1 }, text: undefined } },
    { step: 26, ours: { status: 404, body: { message: 'not found', code: 2 }, text: undefined } },
  ].map((exception) => ({
    ...exception,
    recording: 'rest/05-checks-validation.json',
    why: 'schedule/cron: a schedule that never occurs is rejected when it is written',
  })),
  ...[
    { step: 8, ours: { status: 400, body: { message: '<string>', code: 1 }, text: undefined } },
    { step: 9, ours: NOT_FOUND },
    { step: 10, ours: NOT_FOUND },
  ].map((entry) => ({
    ...entry,
    recording: 'rest/07-filters-mutators.json',
    why: 'windows are validated on write',
  })),
  ...[
    { recording: 'rest/05-checks-validation.json', step: 108, ours: CREATED },
    { recording: 'rest/05-checks-validation.json', step: 109, ours: DELETED },
    { recording: 'rest/05-checks-validation.json', step: 112, ours: CREATED },
    { recording: 'rest/05-checks-validation.json', step: 113, ours: DELETED },
    { recording: 'rest/07-filters-mutators.json', step: 25, ours: CREATED },
    {
      recording: 'rest/07-filters-mutators.json',
      step: 29,
      ours: { status: 409, body: { message: 'resource already exists', code: 3 }, text: undefined },
    },
    {
      recording: 'rest/07-filters-mutators.json',
      step: 30,
      ours: { body: { expressions: ['const a = 1'], when: undefined } },
    },
  ].map((entry) => ({ ...entry, why: 'modern syntax and library are accepted' })),
  ...[
    { step: 14, asset: { ...W_ASSET, builds: null } },
    { step: 17, asset: W_ASSET },
  ].map(({ step, asset }) => ({
    recording: 'wire/check-request-parts.json',
    step,
    ours: { json: { hook_assets: { 'w-hook': { assets: [asset] } } } },
    why: 'assets are selected by exact name',
  })),
  ...['keepalive', 'event'].map((step) => ({
    recording: 'wire/real-agent',
    step,
    ours: { entity: { sensu_agent_version: '<string>' } },
    why: 'another program has another version',
  })),
  {
    recording: 'wire/real-agent',
    step: 'redacted label',
    ours: 'hunter2',
    why: 'the seed: redacted secrets still travel over the connection',
  },
  {
    recording: 'wire/real-agent',
    step: 28,
    ours: { check: { output: '<string>' } },
    why: 'a command that prints its input prints the machine it runs on',
  },
  {
    recording: 'wire/real-agent',
    step: 54,
    ours: {
      id: '<any>',
      metadata: '<any>',
      metrics: {
        points: [
          { name: 'hits.value', value: 3, timestamp: '<any>', tags: [{ name: 's', value: '127.0.0.1' }] },
          {
            name: 'hits.per_second',
            value: '<number>',
            timestamp: '<any>',
            tags: [{ name: 's', value: '127.0.0.1' }],
          },
          {
            name: 'load.value',
            value: 1.5,
            timestamp: '<any>',
            tags: [
              { name: 'env', value: 'prod' },
              { name: 's', value: '127.0.0.1' },
            ],
          },
        ],
      },
    },
    why: 'metrics have the time of another flush',
  },
  ...[16, 32, 34, 40].map((step) => ({
    recording: 'wire/real-agent',
    step,
    ours: { id: '<uuid>', sequence: 1, pipelines: '<any>', check: { issued: '<unix>' } },
    why: 'recordings of agent/: the answer to an invalid check has an id; it names the request like any other',
  })),
];

/** Returns the expected value of a step: `recorded`, with the members that an exception replaces. */
export function withException(recording: string, step: number | string, recorded: unknown): unknown {
  const exception = GOLDEN_EXCEPTIONS.find((candidate) => candidate.recording === recording && candidate.step === step);
  return exception === undefined ? recorded : withMembers(recorded, exception.ours);
}

const isMembers = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

function withMembers(recorded: unknown, ours: unknown): unknown {
  if (!isMembers(recorded) || !isMembers(ours)) return ours;
  const changed = Object.entries(ours).map(([name, member]) => [name, withMembers(recorded[name], member)] as const);
  return { ...recorded, ...Object.fromEntries(changed) };
}

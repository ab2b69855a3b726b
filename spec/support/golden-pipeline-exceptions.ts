import type { GoldenException } from './golden-exception.ts';

const FILES = ['agent', 'filters', 'handlers', 'mutators', 'pipelines'].map((name) => `pipeline/${name}.json`);
const MUTATORS = 'pipeline/mutators.json';

/** Their first handler fails in its mutator. */
const FAILING_MUTATORS = [
  'return-number',
  'return-bool',
  'return-object',
  'return-array',
  'return-string-object',
  'throws',
  'throws-ref',
  'syntax',
  'wrong-type',
  'negative',
  'float-status',
  'timeout',
  'push',
  'last-line-comment',
];

/** Their first handler has a mutator that changes the event, which the second handler must not see. */
const CHANGING_MUTATORS: Readonly<Record<string, { handler: string; event: object }>> = {
  modify: { handler: 'z', event: { check: { metadata: { labels: undefined } } } },
  'modify-status': {
    handler: 'z',
    event: {
      check: { status: 1, output: 'out' },
      entity: { metadata: { labels: { zone: 'y' } } },
      metadata: { annotations: undefined },
    },
  },
  'set-labels': { handler: 'z', event: { check: { metadata: { labels: undefined } } } },
  'set-handlers': { handler: 'z', event: { check: { handlers: ['a', 'z'] } } },
  leak: { handler: 'b', event: { check: { output: 'out' } } },
};

/** Where the service differs from the recordings of the event pipeline that have no `ours`. */
export const PIPELINE_EXCEPTIONS: readonly GoldenException[] = [
  ...FILES.flatMap((recording) => [
    {
      recording,
      step: 'answer to an event',
      ours: { status: 200 },
      why: 'the seed: PUT of an event answers 200 with the event',
    },
    {
      recording,
      step: 'event at a handler',
      ours: { metadata: { namespace: '{ns}' } },
      why: 'the seed: the metadata of a stored event contains its namespace',
    },
  ]),
  {
    recording: 'pipeline/handlers.json',
    step: 'answer to handler-neg-timeout',
    ours: { message: 'timeout must be >= 0' },
    why: 'recordings of rest/ leave the text of a parser free: ours names the field and the rule',
  },
  {
    recording: 'pipeline/filters.json',
    step: 'answer to filter-write-second-bad',
    ours: { message: 'resource is invalid: syntax error in expression 1: <string>' },
    why: 'the text of the parser is free, as in pipeline/filter-truth',
  },
  {
    recording: 'pipeline/filters.json',
    step: 'answer to filter-write-when-bad',
    ours: { status: 400, message: '<string>' },
    why: 'windows are validated on write, as in when-unparsable',
  },
  {
    recording: 'pipeline/filters.json',
    step: 'when-unparsable',
    ours: { ran: [] },
    why: 'its filter does not exist then, and legacy-missing-filter-stops-later does not run such a handler',
  },
  {
    recording: 'pipeline/agent.json',
    step: 'agent-registration, handler registration',
    ours: { check: { output: 'entity registered' }, id: '<uuid>' },
    why: 'state/registration step 8: a registration event has an id; its output says what it is',
  },
  {
    recording: 'pipeline/agent.json',
    step: 'agent-deregistration, handler a',
    ours: { check: { history: '<any>', state: '<string>', last_ok: '<unix>', occurrences: '<int>' } },
    why: 'ours keeps a two-entry history so that incident filters see a resolution, as in state/deregister',
  },
  {
    recording: 'pipeline/agent.json',
    step: 'agent-deregistration',
    ours: { ran: ['a', '<string>', '<string>'] },
    why: 'events of different checks are handled at the same time',
  },
  ...FAILING_MUTATORS.map((name) => ({
    recording: MUTATORS,
    step: `js-mutator-${name}`,
    ours: { ran: ['z'] },
    why: 'an error ends only its own workflow, as in legacy-missing-mutator',
  })),
  ...Object.entries(CHANGING_MUTATORS).map(([name, { handler, event }]) => ({
    recording: MUTATORS,
    step: `js-mutator-${name}, handler ${handler}`,
    ours: event,
    why: 'each workflow has its own copy of the event',
  })),
  {
    recording: MUTATORS,
    step: 'js-mutator-raw-label',
    ours: { stdin: { a: 'REDACTED' } },
    why: 'JavaScript never reads the values of redacted labels',
  },
  ...[
    { step: 'event.namespace === "default"', result: 'true' },
    { step: 'event.namespace === ""', result: 'false' },
  ].map(({ step, result }) => ({
    recording: 'pipeline/filter-truth.json',
    step,
    ours: { result },
    why: 'the seed: the metadata of a stored event contains its namespace',
  })),
];

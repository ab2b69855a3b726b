import { hostname } from 'node:os';
import { at } from './json-path.ts';

export interface RecordedRequest {
  method: string;
  path: string;
  query?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/** A recorded answer; absent members are not compared. */
export interface RecordedAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
  text?: string;
}

interface Difference {
  why: string;
  appliesTo(request: RecordedRequest, recorded: RecordedAnswer): boolean;
  ours(recorded: RecordedAnswer): RecordedAnswer;
}

const JSON_TYPE = { 'content-type': 'application/json' };

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

const refusedWith = (message: RegExp, status: number, code: number, why: string): Difference => ({
  why,
  appliesTo: (_, { body }) => message.test(String(at(body, 'message'))),
  ours: ({ body }) => ({ status, body: { message: at(body, 'message'), code } }),
});

const withText = (why: string, recorded: string, ours: string): Difference => ({
  why,
  appliesTo: (_, { body }) => JSON.stringify(body ?? null).includes(recorded),
  ours: (answer) => ({
    ...answer,
    body: JSON.parse(JSON.stringify(answer.body).replaceAll(recorded, ours)) as unknown,
  }),
});

/** Keeps only the objects with these names, which the selector of `query` selects. */
const selecting = (query: string, names: readonly string[]): Difference => ({
  why: 'spec 02, D21: selectors select',
  appliesTo: (request) => request.query === query,
  ours: (recorded) => ({
    ...recorded,
    body: (recorded.body as unknown[]).filter((item) => names.includes(String(at(item, 'metadata', 'name')))),
  }),
});

const withOwnSubscription = (entity: unknown): unknown => {
  if (!isObject(entity) || entity['entity_class'] === 'backend') return entity;
  const subscriptions = (entity['subscriptions'] ?? []) as string[];
  const own = `entity:${String(at(entity, 'metadata', 'name'))}`;
  return { ...entity, subscriptions: subscriptions.includes(own) ? subscriptions : [...subscriptions, own] };
};

/** Differences between the service and the reference. The numbers are those of spec 02, which decides them. */
const DIFFERENCES: readonly Difference[] = [
  {
    why: 'D3: PUT of an event answers with the event',
    appliesTo: ({ method, path }) => method === 'PUT' && path.includes('/events/'),
    ours: () => ({ status: 200, headers: JSON_TYPE }),
  },
  {
    why: 'D15: refusals have the form of all other errors',
    appliesTo: (_, { body }) => at(body, 'Code') !== undefined,
    ours: ({ status, body }) => ({ status, body: { code: at(body, 'Code'), message: at(body, 'Message') } }),
  },
  {
    why: 'D16: JSON says that it is JSON',
    appliesTo: (_, { headers, body }) => body !== undefined && headers?.['content-type']?.startsWith('text/') === true,
    ours: (recorded) => ({ ...recorded, headers: { ...recorded.headers, ...JSON_TYPE } }),
  },
  refusedWith(/^resource is invalid: wrong password/, 400, 1, 'D17: the mistake is in the request'),
  refusedWith(/^the namespace .* does not exist$/, 404, 2, 'D10: the target of the write is not found'),
  refusedWith(/namespace is not empty$/, 400, 1, 'D13: the caller can correct the request'),
  {
    why: '2.1: errors of API keys are JSON',
    appliesTo: ({ path }, { status, text }) => path.endsWith('/apikeys') && status === 400 && text !== undefined,
    ours: ({ status, text = '' }) => ({ status, body: { message: text.trim(), code: 1 } }),
  },
  {
    why: '6.1: an entity made by API has its own subscription',
    appliesTo: ({ path }, { status }) => status === 200 && /\/entities(\/|$)/.test(path),
    ours: (recorded) => {
      const { body } = recorded;
      return { ...recorded, body: Array.isArray(body) ? body.map(withOwnSubscription) : withOwnSubscription(body) };
    },
  },
  withText('11.3: seeded cluster roles list pipelines', '"mutators","silenced"', '"mutators","pipelines","silenced"'),
  withText('the namespace of the backend itself is called after the service', '"sensu-system"', '"mon-system"'),
  withText('another machine has another name', '"name":"vm"', `"name":"${hostname()}"`),
  {
    why: '10.2: a single backend has no members to remove',
    appliesTo: ({ method, path }) => method === 'DELETE' && path.includes('/cluster/members/'),
    ours: ({ status }) => ({ status, text: 'not supported\n' }),
  },
  selecting('fieldSelector=check.name+%3D%3D+cpu', ['cpu']),
  selecting('labelSelector=region+%3D%3D+us', []),
];

/** Returns the answer that the service must give where the reference answered `recorded`. */
export function expectedAnswer(request: RecordedRequest, recorded: RecordedAnswer): RecordedAnswer {
  let answer = recorded;
  for (const { appliesTo, ours } of DIFFERENCES) if (appliesTo(request, answer)) answer = ours(answer);
  return answer;
}

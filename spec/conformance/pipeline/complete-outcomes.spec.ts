import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { expect } from 'chai';
import fc from 'fast-check';
import type { ApiClient } from '../../support/api-client.ts';
import { eventually } from '../../support/eventually.ts';
import { proxyEvent } from '../../support/example-events.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';

const RUNS = 12;
const HANDLERS = ['h0', 'h1', 'h2', 'h3'];
const SETS = ['s0', 's1'];
const FILTERS = ['is_incident', 'not_silenced', 'has_metrics', 'bad', 'odd', 'broken', 'gone'];
const CHECKS = ['c0', 'c1'];

/** The stored filters; `gone` does not exist. */
const STORED_FILTERS = {
  bad: { action: 'allow', expressions: ['event.check.status == 2'] },
  odd: { action: 'deny', expressions: ['(function () { return event.check.occurrences % 2 == 1; })()'] },
  broken: { action: 'allow', expressions: ['event.nothing.here == 1'] },
};

const names = (list: readonly string[], maxLength: number) => fc.uniqueArray(fc.constantFrom(...list), { maxLength });

interface Workflow {
  handler: string;
  filters: string[];
}

const configurations = fc.record({
  /** The filters of each handler; a handler without an entry does not exist. */
  handlers: fc.dictionary(fc.constantFrom(...HANDLERS), names(FILTERS, 3), { maxKeys: HANDLERS.length }),
  /** The members of each set. */
  sets: fc.record({ s0: names([...HANDLERS, 's1'], 4), s1: names(HANDLERS, 3) }),
  workflows: fc.array(fc.record({ handler: fc.constantFrom(...HANDLERS), filters: names(FILTERS, 2) }), {
    maxLength: 3,
  }),
});

const steps = fc.array(
  fc.oneof(
    {
      weight: 10,
      arbitrary: fc.record({
        type: fc.constant('result' as const),
        check: fc.constantFrom(...CHECKS),
        status: fc.constantFrom(0, 0, 0, 1, 2),
        handlers: names([...HANDLERS, ...SETS], 4),
        pipelines: names(['p', 'p-gone'], 2),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        type: fc.constant('metrics' as const),
        handlers: names([...HANDLERS, ...SETS], 3),
      }),
    },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('silence' as const), check: fc.constantFrom(...CHECKS) }) },
    {
      weight: 1,
      arbitrary: fc.record({ type: fc.constant('delete event' as const), check: fc.constantFrom(...CHECKS) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ type: fc.constant('delete handler' as const), name: fc.constantFrom(...HANDLERS) }),
    },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('restart' as const) }) },
  ),
  { minLength: 10, maxLength: 40 },
);

type Configuration = typeof configurations extends fc.Arbitrary<infer C> ? C : never;
type Step = typeof steps extends fc.Arbitrary<(infer S)[]> ? S : never;

/**
 * What an event names, by its own rules: sets are replaced by their members, and each handler counts once. A set without any
 * handler counts itself, unless it is in another such set.
 */
function named(sets: Configuration['sets'], list: readonly string[]): Set<string> {
  const found = new Set<string>();
  const isSet = (name: string): name is 's0' | 's1' => name === 's0' || name === 's1';
  const leads = (name: string): boolean => !isSet(name) || sets[name].some(leads);
  const visit = (name: string): void => {
    if (!isSet(name) || !leads(name)) found.add(name);
    else for (const member of sets[name]) visit(member);
  };
  for (const name of list) visit(name);
  return found;
}

describe('the outcomes of the handlers that events name', () => {
  let sink: Socket;
  let api: ApiClient;
  let run = 0;
  const backend = perSuite(() => InProcessBackend.start());

  before(async () => {
    sink = createSocket('udp4').bind(0, '127.0.0.1');
    await once(sink, 'listening');
    api = await backend.login();
  });

  after(() => sink.close());

  async function put(path: string, body: object): Promise<void> {
    const { status, text } = await api.put(path, body);
    expect(status, text).to.be.oneOf([200, 201]);
  }

  /** Runs the steps in a namespace of their own. Returns how often each handler and workflow was named, by check. */
  async function live(
    namespace: string,
    configuration: Configuration,
    all: readonly Step[],
  ): Promise<Map<string, number>> {
    const metadata = (name: string) => ({ name, namespace });
    const one = (kind: string, name: string, body: object) =>
      put(`/ns/${namespace}/${kind}/${name}`, { metadata: metadata(name), ...body });
    const inNamespace = (body: object): object =>
      JSON.parse(JSON.stringify(body).replaceAll('"default"', `"${namespace}"`)) as object;
    await put(`/api/core/v2/namespaces/${namespace}`, { name: namespace });
    for (const [name, body] of Object.entries(STORED_FILTERS)) await one('filters', name, body);
    for (const [name, filters] of Object.entries(configuration.handlers)) {
      await one('handlers', name, { type: 'udp', socket: { host: '127.0.0.1', port: sink.address().port }, filters });
    }
    for (const [name, handlers] of Object.entries(configuration.sets))
      await one('handlers', name, { type: 'set', handlers });
    const reference = (type: string) => (name: string) => ({ name, type, api_version: 'core/v2' });
    const workflows = configuration.workflows.map(({ handler, filters }: Workflow, n: number) => ({
      name: `w${n}`,
      handler: reference('Handler')(handler),
      filters: filters.map(reference('EventFilter')),
    }));
    await one('pipelines', 'p', { workflows });

    const expected = new Map<string, number>();
    const expect1 = (check: string, ...parts: string[]): void => {
      const name = [check, ...parts].join(' ');
      expected.set(name, (expected.get(name) ?? 0) + 1);
    };
    for (const step of all) {
      if (step.type === 'result') {
        const { check, status, handlers, pipelines } = step;
        const event = {
          ...proxyEvent('e', check, { status, handlers }),
          pipelines: pipelines.map(reference('Pipeline')),
        };
        await put(`/ns/${namespace}/events/e/${check}`, inNamespace(event));
        for (const handler of named(configuration.sets, handlers)) expect1(check, handler);
        if (pipelines.includes('p-gone')) expect1(check, 'p-gone');
        if (!pipelines.includes('p')) continue;
        if (workflows.length === 0) expect1(check, 'p');
        for (const { name, handler } of workflows) expect1(check, 'p', name, handler.name);
      } else if (step.type === 'metrics') {
        const { entity } = proxyEvent('e', 'c0') as { entity: object };
        const points = [{ name: 'n', value: 1, timestamp: 1_700_000_000, tags: [] }];
        const { status, text } = await api.post(
          `/ns/${namespace}/events`,
          inNamespace({ entity, metrics: { handlers: step.handlers, points } }),
        );
        expect(status, text).to.be.oneOf([200, 201]);
        for (const handler of named(configuration.sets, step.handlers)) expect1('', handler);
      } else if (step.type === 'silence') {
        const name = `entity:e:${step.check}`;
        const body = { subscription: 'entity:e', check: step.check, expire_on_resolve: true };
        await put(`/ns/${namespace}/silenced/${name}`, { metadata: metadata(name), ...body });
      } else if (step.type === 'delete event') {
        await api.delete(`/ns/${namespace}/events/e/${step.check}`);
      } else if (step.type === 'delete handler') {
        await api.delete(`/ns/${namespace}/handlers/${step.name}`);
      } else {
        await backend.restart();
        api = await backend.login();
      }
    }
    return expected;
  }

  /** All items of a search. */
  async function found(namespace: string, query: string): Promise<unknown[]> {
    const items: unknown[] = [];
    for (let next: string | undefined = ''; next !== undefined;) {
      const path = `/api/mon/v1/namespaces/${namespace}/notifications?${query}`;
      const { json, headers } = await api.get(next === '' ? path : `${path}&continue=${next}`);
      items.push(...(json as unknown[]));
      next = headers['sensu-continue'] as string | undefined;
    }
    return items;
  }

  async function recorded(namespace: string): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    for (const one of await found(namespace, 'limit=1000')) {
      const parts = ['check', 'pipeline', 'workflow', 'handler'].map((member) => at(one, member) as string | null);
      const [check = '', ...others] = parts;
      const name = [check, ...others.filter((part) => part !== null && part !== '')].join(' ');
      counts.set(name, (counts.get(name) ?? 0) + Number(at(one, 'count')));
    }
    return counts;
  }

  const sorted = (counts: ReadonlyMap<string, number>) => [...counts].sort(([a], [b]) => (a < b ? -1 : 1));

  it('are as many as the events name, for random configurations and events, through restarts', async function () {
    this.timeout(180_000);
    await fc.assert(
      fc.asyncProperty(configurations, steps, async (configuration, all) => {
        run += 1;
        const namespace = `run-${run}`;
        const expected = await live(namespace, configuration, all);
        await eventually(
          () => found(namespace, 'outcome=waiting'),
          (waiting) => waiting.length === 0,
          { what: 'an empty outbox', withinMs: 20_000 },
        );
        expect(sorted(await recorded(namespace))).to.deep.equal(sorted(expected));
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
  });
});

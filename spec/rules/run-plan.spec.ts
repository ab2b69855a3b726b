import { expect } from 'chai';
import { type EventFilter, eventFilterWithDefaults } from '../../src/resources/event-filter.ts';
import { type Handler, handlerWithDefaults } from '../../src/resources/handler.ts';
import { type Pipeline, pipelineWithDefaults } from '../../src/resources/pipeline.ts';
import type { FilterInput } from '../../src/rules/built-in-filters.ts';
import { type DecideSimply, type PipelineResources, planRuns } from '../../src/rules/run-plan.ts';

const INCIDENT: FilterInput = { status: 2, previousStatus: 0, silenced: [], hasMetrics: false };
const SUCCESS: FilterInput = { ...INCIDENT, status: 0 };
/** A Monday, 15:30 UTC. */
const NOW_MS = Date.parse('2024-03-11T15:30:00Z');

const reference = (name: string) => ({ name, type: 'x', api_version: 'core/v2' });

interface WorkflowInput {
  name?: string;
  filters?: string[];
  mutator?: string;
  handler?: string;
}

class Configuration implements PipelineResources {
  readonly handlers = new Map<string, Handler>();
  readonly filters = new Map<string, EventFilter>();
  readonly pipelines = new Map<string, Pipeline>();
  readonly mutators = new Set<string>();

  pipeline = (name: string): Pipeline | undefined => this.pipelines.get(name);
  handler = (name: string): Handler | undefined => this.handlers.get(name);
  filter = (name: string): EventFilter | undefined => this.filters.get(name);
  hasMutator = (name: string): boolean => this.mutators.has(name);

  addHandler(name: string, changes: Parameters<typeof handlerWithDefaults>[0] = {}): void {
    this.handlers.set(name, handlerWithDefaults({ type: 'pipe', command: 'true', ...changes }));
  }

  addFilter(name: string, changes: Parameters<typeof eventFilterWithDefaults>[0] = {}): void {
    this.filters.set(name, eventFilterWithDefaults({ action: 'allow', expressions: ['true'], ...changes }));
  }

  addPipeline(name: string, workflows: WorkflowInput[]): void {
    const shaped = workflows.map(({ name: workflow = 'w', filters, mutator, handler = 'a' }) => ({
      name: workflow,
      filters: filters?.map(reference) ?? null,
      mutator: mutator === undefined ? null : reference(mutator),
      handler: reference(handler),
    }));
    this.pipelines.set(name, pipelineWithDefaults({ workflows: shaped }));
  }
}

describe('the runs of an event', () => {
  let resources: Configuration;
  let decideSimply: DecideSimply | undefined;

  beforeEach(() => {
    resources = new Configuration();
    decideSimply = undefined;
    for (const name of ['a', 'b']) resources.addHandler(name);
  });

  const plan = (pipelines: string[], handlers: string[], input = INCIDENT, isHandled = true) =>
    planRuns({ pipelines: pipelines.map((name) => ({ name })), handlers, isHandled }, input, {
      resources,
      nowMs: NOW_MS,
      decideSimply,
    }).map(({ pipeline, workflow, handler, outcome, reason, filters }) =>
      [pipeline, workflow, handler, outcome, reason || filters.join(',')].filter(Boolean).join(' '),
    );

  it('are those of its pipelines in order, and then its handlers by name', () => {
    resources.addPipeline('p', [{ name: 'one', handler: 'b' }, { name: 'two' }]);
    resources.addPipeline('q', [{ name: 'three' }]);
    expect(plan(['q', 'p', 'q'], ['b', 'a'])).to.deep.equal([
      'q three a open',
      'p one b open',
      'p two a open',
      'q three a open',
      'a open',
      'b open',
    ]);
  });

  it('have numbers where a pipeline, a workflow and a handler have the same names as those of an earlier run', () => {
    resources.addPipeline('p', [{ name: 'w' }, { name: 'w' }, { name: 'w', handler: 'b' }]);
    const named = { pipelines: [{ name: 'p' }, { name: 'p' }], handlers: ['a'], isHandled: true };
    const runs = planRuns(named, INCIDENT, { resources, nowMs: NOW_MS });
    expect(runs.map(({ handler, nth }) => [handler, nth])).to.deep.equal([
      ['a', undefined],
      ['a', 2],
      ['b', undefined],
      ['a', 3],
      ['a', 4],
      ['b', 2],
      ['a', undefined],
    ]);
  });

  it('include what does not exist, each with its reason', () => {
    resources.addPipeline('empty', []);
    resources.addPipeline('p', [
      { name: 'h', handler: 'nope' },
      { name: 'f', filters: ['nope'] },
      { name: 'm', mutator: 'nope' },
      { name: 's', handler: 'set' },
    ]);
    resources.addHandler('set', { type: 'set', handlers: ['a'] });
    expect(plan(['nope', 'empty', 'p'], ['nope'])).to.deep.equal([
      'nope skipped pipeline "nope" does not exist',
      'empty skipped pipeline has no workflows',
      'p h nope skipped handler does not exist',
      'p f a skipped filter "nope" does not exist',
      'p m a skipped mutator "nope" does not exist',
      'p s set skipped unknown handler type',
      'nope skipped handler does not exist',
    ]);
  });

  it('are the same whether an event names one handler or several', () => {
    resources.addHandler('filtered', { filters: ['is_incident', 'stored'] });
    resources.addHandler('mutated', { mutator: 'missing' });
    resources.addHandler('unknown', { type: 'other' });
    resources.addHandler('many', { filters: Array.from({ length: 10_001 }, (_, n) => `f${n}`) });
    resources.addHandler('set', { type: 'set', handlers: ['a', 'missing'] });
    resources.addHandler('empty', { type: 'set' });
    resources.addFilter('stored');
    for (const name of ['a', 'filtered', 'mutated', 'unknown', 'many', 'set', 'empty', 'missing']) {
      for (const input of [INCIDENT, SUCCESS]) {
        const among = plan([], ['a', name, 'b'], input).filter((run) => !run.startsWith('b '));
        const leadsToA = ['a', 'set'].includes(name);
        const expected = leadsToA ? among : among.filter((run) => !run.startsWith('a '));
        expect(plan([], [name], input), name).to.deep.equal(expected);
      }
    }
  });

  it('look up a handler once, if it is the only one', () => {
    const lookedUp: string[] = [];
    const found = resources.handler;
    resources.handler = (name) => {
      lookedUp.push(name);
      return found.call(resources, name);
    };
    const named = { pipelines: [], handlers: ['a'], isHandled: true };
    expect(planRuns(named, INCIDENT, { resources, nowMs: NOW_MS })).to.have.length(1);
    expect(lookedUp).to.deep.equal(['a']);
  });

  it('leave out the filters and the mutator of the handler itself in a pipeline', () => {
    resources.addHandler('a', { filters: ['is_incident'], mutator: 'nope' });
    resources.addPipeline('p', [{}]);
    expect(plan(['p'], ['a'], SUCCESS)).to.deep.equal(['p w a open', 'a denied not an incident']);
  });

  it('are open with the mutator of a workflow whose handler does not exist, because the mutator runs first', () => {
    resources.mutators.add('m');
    resources.addPipeline('p', [{ mutator: 'm', handler: 'nope' }]);
    expect(plan(['p'], [])).to.deep.equal(['p w nope open']);
  });

  it('keep the stored filters from the first that is not decided at once', () => {
    for (const name of ['one', 'two', 'three']) resources.addFilter(name);
    resources.addHandler('a', { filters: ['one', 'is_incident', 'two', 'three'] });
    decideSimply = (_, name) => (name === 'one' ? { passes: true } : undefined);
    expect(plan([], ['a'])).to.deep.equal(['a open two,three']);
    decideSimply = () => ({ passes: false, reason: 'one: x was false' });
    expect(plan([], ['a'])).to.deep.equal(['a denied one: x was false']);
  });

  it('are denied by a built-in filter before a stored one is looked up', () => {
    resources.addHandler('a', { filters: ['nope', 'is_incident'] });
    expect(plan([], ['a'], SUCCESS)).to.deep.equal(['a denied not an incident']);
  });

  const inside = { days: { all: [{ begin: '3:00PM', end: '4:00PM' }] } };
  const outside = { days: { all: [{ begin: '1:00PM', end: '2:00PM' }] } };
  for (const [action, when, what, expected] of [
    ['allow', inside, 'inside its windows', 'a open f'],
    ['allow', outside, 'outside its windows', 'a denied f: outside its time windows'],
    ['deny', inside, 'inside its windows', 'a denied f: inside its time windows'],
    ['deny', outside, 'outside its windows', 'a open f'],
    ['allow', { days: {} }, 'without windows', 'a denied f: outside its time windows'],
  ] as const) {
    it(`follow a filter with when that has the action ${action} ${what}`, () => {
      resources.addFilter('f', { action, when: { days: { ...when.days } } });
      resources.addHandler('a', { filters: ['f'] });
      expect(plan([], ['a'])).to.deep.equal([expected]);
    });
  }

  it('are all skipped when the check is not to be handled', () => {
    resources.addPipeline('p', [{}]);
    const reason = 'skipped the check is not handled: its attribute handle is false';
    expect(plan(['p'], ['b'], INCIDENT, false)).to.deep.equal([`p w a ${reason}`, `b ${reason}`]);
  });

  it('are at most a thousand, and one with the reason names the handlers of all others', () => {
    resources.addPipeline(
      'p',
      Array.from({ length: 300 }, (_, n) => ({ name: String(n), handler: `p${n}` })),
    );
    const pipelines = Array.from({ length: 4 }, () => ({ name: 'p' }));
    const handlers = Array.from({ length: 1_200 }, (_, n) => `missing-${n}`);
    const runs = planRuns({ pipelines, handlers: ['a', ...handlers], isHandled: true }, INCIDENT, {
      resources,
      nowMs: NOW_MS,
    });
    expect(runs).to.have.lengthOf(1_001);
    const left = runs.at(-1);
    expect(left).to.include({ pipeline: 'p', workflow: '100', handler: 'p100', nth: 4, outcome: 'skipped' });
    expect(left?.reason).to.match(/^an event leads to at most 1000 runs of handlers/);
    const named = [...Array.from({ length: 199 }, (_, n) => `p${n + 101}`), 'a', ...handlers];
    expect(left?.others).to.have.members(named);
  });

  it('have at most ten thousand filters together, and the reason is recorded', () => {
    const filters = Array.from({ length: 6_000 }, () => 'is_incident');
    resources.addPipeline('p', [{ filters }, { filters }, { filters }]);
    const runs = plan(['p'], []);
    expect(runs).to.have.lengthOf(2);
    expect(runs.at(-1)).to.match(/skipped the handlers of an event have at most 10000 filters together/);
  });
});

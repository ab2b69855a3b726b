import { expect } from 'chai';
import { type EntityConfig, parseEntityConfig } from '../../src/resources/entity.ts';
import type { EvaluationResult, PredicateTask } from '../../src/sandbox/messages.ts';
import { selectEntities } from '../../src/scheduler/entity-selection.ts';
import type { Page, PageRequest } from '../../src/store/page.ts';
import { RecordedLog } from '../support/recorded-log.ts';

const OWNER = { namespace: 'default', name: 'check' };

/** Entities whose expressions are decided by their names. */
class Entities {
  readonly tasks: PredicateTask[] = [];
  mostRead = 0;
  readonly #configs: readonly EntityConfig[];
  readonly #resultOf: (name: string) => EvaluationResult;

  constructor(count: number, resultOf: (name: string) => EvaluationResult, label = '') {
    this.#resultOf = resultOf;
    this.#configs = Array.from({ length: count }, (_, n) =>
      parseEntityConfig({
        entity_class: 'proxy',
        metadata: { name: `e${String(n).padStart(4, '0')}`, namespace: 'default', labels: { label } },
      }),
    );
  }

  select(...leftOut: string[]) {
    return selectEntities(
      {
        entities: (_namespace, page) => this.#page(page),
        decide: (task) => {
          this.tasks.push(task);
          return Promise.resolve(task.values.map((value) => this.#resultOf((JSON.parse(value) as EntityName).name)));
        },
        nowMs: () => 0,
        log: new RecordedLog(),
      },
      { owner: OWNER, programs: ['true'], leftOut: new Set(leftOut) },
    );
  }

  #page({ limit = Infinity, from = '' }: PageRequest): Page<EntityConfig> {
    const rest = this.#configs.filter(({ metadata: { name = '' } }) => name >= from);
    const items = rest.slice(0, limit);
    this.mostRead = Math.max(this.mostRead, items.length);
    return { items, lastKey: rest.length > limit ? items.at(-1)?.metadata.name : undefined };
  }
}

interface EntityName {
  name: string;
}

describe('the selection of entities', () => {
  const holds = (): EvaluationResult => ({ type: 'holds' });
  const stops = (): EvaluationResult => ({ type: 'limit', error: 'took too long' });

  it('evaluates all entities, 50 at a time', async () => {
    const entities = new Entities(120, (name) => (name.endsWith('7') ? { type: 'holds' } : { type: 'fails' }));
    const { names } = await entities.select();
    expect(names).to.have.lengthOf(12);
    expect(entities.tasks.map(({ values }) => values.length)).to.deep.equal([50, 50, 20]);
  });

  it('reads and evaluates little at a time when entities are large', async () => {
    const entities = new Entities(40, holds, 'x'.repeat(250_000));
    const { names } = await entities.select();
    expect(names).to.have.lengthOf(40);
    expect(entities.mostRead).to.be.at.most(5);
    for (const { values } of entities.tasks) expect(values.join('').length).to.be.below(3 * 1024 * 1024);
  });

  it('leaves out entities at which the expressions were stopped earlier, and says so', async () => {
    const entities = new Entities(3, holds);
    const { names, stopped, stoppedEntities } = await entities.select('e0001');
    expect(names).to.deep.equal(['e0000', 'e0002']);
    expect([stopped, stoppedEntities]).to.deep.equal(['e0001: stopped earlier', []]);
  });

  it('ends after three entities at which the expressions were stopped', async () => {
    const entities = new Entities(120, stops);
    const { names, stopped, stoppedEntities, decided } = await entities.select();
    expect([names, decided]).to.deep.equal([[], 0]);
    expect(stopped).to.equal('e0000: took too long');
    expect(stoppedEntities).to.deep.equal(['e0000', 'e0001', 'e0002']);
    expect(entities.tasks).to.have.lengthOf(1);
  });

  it('continues with further entities when those at which the expressions were stopped are left out', async () => {
    const hostile = ['e0001', 'e0002', 'e0003'];
    const entities = new Entities(120, (name) => (hostile.includes(name) ? stops() : holds()));
    const first = await entities.select();
    expect([first.stoppedEntities, first.decided > 0]).to.deep.equal([hostile, true]);
    const second = await entities.select(...first.stoppedEntities);
    expect(second.names).to.have.lengthOf(117);
  });
});

import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { agentEntity, checkEvent } from '../../support/example-events.ts';
import { perSuite } from '../../support/fixture.ts';
import { HandlerSinks } from '../../support/handler-sinks.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';

const POINTS = [{ name: 'cpu', value: 1.5, timestamp: 1_767_268_800, tags: [{ name: 'core', value: '0' }] }];

describe('an event at its handler', () => {
  const backend = perSuite(() => InProcessBackend.start());
  const api = perSuite(() => backend.login());
  const handlers = perSuite(
    () => new HandlerSinks(api),
    (made) => made.close(),
  );

  before(() => handlers.add('sink'));

  /** The single event of an agent of this name as the handler receives it. */
  async function handled(name: string, event: Record<string, unknown>): Promise<unknown> {
    const agent = await backend.connect({ name });
    agent.send('event', event);
    const [first] = await eventually(
      () => handlers.of('sink', name),
      (events) => events.length > 0,
      { what: 'the event at its handler' },
    );
    return first;
  }

  it('case 42: without a check has its metrics, is not listed, and creates no entity', async () => {
    const { timestamp, metadata, id } = checkEvent('han-42', 'none');
    const metrics = { handlers: ['sink'], points: POINTS };
    const event = await handled('han-42', { timestamp, metadata, id, entity: agentEntity('han-42'), metrics });
    expect(event).to.deep.include({ metrics, id });
    expect(event).to.not.have.property('check');
    const listed = (await api.get('/ns/default/events')).json as unknown[];
    expect(listed.filter((other) => at(other, 'entity', 'metadata', 'name') === 'han-42')).to.deep.equal([]);
    expect(await api.entity('han-42')).to.equal(undefined);
  });

  it('case 42: without a check is handled when it arrives through the API as well', async () => {
    const metrics = { handlers: ['sink'], points: POINTS };
    const answer = await api.request({
      method: 'POST',
      path: '/ns/default/events',
      body: { entity: { entity_class: 'proxy', metadata: { name: 'han-42-api', namespace: 'default' } }, metrics },
    });
    expect(answer).to.have.property('status', 200);
    const [event] = await eventually(
      () => handlers.of('sink', 'han-42-api'),
      (events) => events.length > 0,
      { what: 'the metrics at their handler' },
    );
    expect(at(event, 'metrics')).to.deep.equal(metrics);
    expect(await api.entity('han-42-api')).to.equal(undefined);
  });

  it('case 43: with a check has the metrics that are not stored', async () => {
    const result = { handlers: ['sink'], status: 1 };
    const metrics = { handlers: [], points: POINTS };
    const event = await handled('han-43', checkEvent('han-43', 'measured', result, { metrics }));
    expect(event).to.have.nested.property('check.status', 1);
    expect(at(event, 'metrics', 'points')).to.deep.equal(POINTS);
    expect(await api.event('han-43', 'measured')).to.not.have.property('metrics');
  });

  it('case 46: has the whole output, which is stored truncated', async () => {
    const result = { handlers: ['sink'], output: 'VERYLONG!', max_output_size: 4 };
    const event = await handled('han-46', checkEvent('han-46', 'long', result));
    expect(at(event, 'check', 'output')).to.equal('VERYLONG!');
    expect(at(await api.event('han-46', 'long'), 'check', 'output')).to.equal('VERY');
  });
});

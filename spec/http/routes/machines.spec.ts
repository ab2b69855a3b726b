import { expect } from 'chai';
import { MACHINES } from '../../../src/actors/core/machines.ts';
import { perSuite } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { ApiUnderTest } from '../api-under-test.ts';

const PATH = '/api/mon/v1/machines';

describe('state machines over HTTP', () => {
  const api = perSuite(() => ApiUnderTest.start());

  it('are described, each with its states, events and transitions', async () => {
    const { status, body } = await api.get(PATH);
    expect(status).to.equal(200);
    const machines = body as { machine: string; states: { name: string }[] }[];
    expect(machines.map(({ machine }) => machine)).to.have.members(Object.keys(MACHINES));
    const entity = machines.find(({ machine }) => machine === 'entity');
    expect(entity).to.deep.include({ id: 'entity', version: '1', initial: 'registered' });
    expect(entity?.states.map(({ name }) => name)).to.deep.equal(['registered', 'warning', 'critical', 'deregistered']);
    expect(at(entity, 'events')).to.deep.equal([
      'deadline.reached',
      'entity.deleted',
      'keepalive.deleted',
      'keepalive.received',
    ]);
    expect(at(entity, 'states', '0', 'transitions', '3')).to.deep.equal({
      event: 'deadline.reached',
      guard: 'criticalTimeoutPassed',
      target: 'critical',
      actions: ['advance', 'setDeadline', 'publishAlert'],
    });
    expect(at(entity, 'states', '3')).to.deep.equal({
      name: 'deregistered',
      isFinal: true,
      description: null,
      entry: ['clearDeadline'],
      transitions: [],
    });
  });

  it('are for everybody who is logged in', async () => {
    const token = await api.userWith('nobody', []);
    expect(await api.send({ path: PATH, headers: { authorization: `Bearer ${token}` } })).to.have.property(
      'status',
      200,
    );
    expect(await api.send({ path: PATH, headers: { authorization: '' } })).to.have.property('status', 401);
  });
});

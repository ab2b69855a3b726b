import { expect } from 'chai';
import { createMachine } from 'xstate';
import { MACHINES } from '../../../src/actors/core/machines.ts';
import { perSuite } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { ApiUnderTest } from '../api-under-test.ts';

const PATH = '/api/mon/v1/machines';

describe('state machines over HTTP', () => {
  const api = perSuite(() => ApiUnderTest.start());

  it('are listed with their kind names, states and events', async () => {
    const { status, body } = await api.get(PATH);
    expect(status).to.equal(200);
    const machines = body as { machine: string; id: string }[];
    const kinds = [...Object.keys(MACHINES), 'agent-link', 'check-state', 'silence'];
    expect(machines.map(({ machine }) => machine)).to.have.members(kinds);
    expect(machines.find(({ id }) => id === 'entity')).to.deep.equal({
      machine: 'entity',
      id: 'entity',
      version: '2',
      description: 'An entity, and the monitor of the keepalives of its agent.',
      initial: 'registered',
      states: ['registered', 'warning', 'critical', 'deregistered'],
      events: ['deadline.reached', 'entity.deleted', 'keepalive.deleted', 'keepalive.received', 'stop.announced'],
    });
  });

  it('are returned one by one as JSON that createMachine accepts', async () => {
    for (const { id } of (await api.get(PATH)).body as { id: string }[]) {
      const { status, body } = await api.get(`${PATH}/${id}`);
      expect(status).to.equal(200);
      expect(at(body, 'id')).to.equal(id);
      const machine = createMachine(body as never);
      expect(Object.keys(machine.states)).to.deep.equal(Object.keys(at(body, 'states') as object));
    }
  });

  it('show nested states, guards by name, and constant parameters of actions', async () => {
    const { body: entity } = await api.get(`${PATH}/entity`);
    expect(at(entity, 'states', 'registered', 'initial')).to.equal('unmonitored');
    expect(at(entity, 'states', 'warning', 'on', 'deadline.reached', '3')).to.deep.equal({
      description: 'No keepalive came within the critical timeout either.',
      guard: { type: 'criticalTimeoutPassed' },
      target: 'critical',
      actions: [{ type: 'advance' }, 'setDeadline', { type: 'publishAlert' }],
    });
    const { body: connection } = await api.get(`${PATH}/agent-connection`);
    expect(at(connection, 'states', 'registered', 'on', 'shutdown.requested', 'actions')).to.deep.equal({
      type: 'closeSocket',
      params: { code: 1001, reason: 'bye' },
    });
  });

  it('are found by their kind name too', async () => {
    const { status, body } = await api.get(`${PATH}/connection`);
    expect([status, at(body, 'id')]).to.deep.equal([200, 'agent-connection']);
  });

  it('answer 404 for an unknown id', async () => {
    const { status, body } = await api.get(`${PATH}/unheard-of`);
    expect([status, at(body, 'message')]).to.deep.equal([404, 'there is no state machine "unheard-of"']);
  });

  it('are readable by every user who is logged in', async () => {
    const token = await api.userWith('nobody', []);
    for (const path of [PATH, `${PATH}/entity`]) {
      const headers = { authorization: `Bearer ${token}` };
      expect(await api.send({ path, headers })).to.have.property('status', 200);
      expect(await api.send({ path, headers: { authorization: '' } })).to.have.property('status', 401);
    }
  });
});

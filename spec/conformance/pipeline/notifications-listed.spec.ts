import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { proxyEvent } from '../../support/example-events.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';

const PATH = '/api/mon/v1/namespaces/default/events/switch-1';

describe('the notifications of an event', () => {
  const backend = perSuite(() => InProcessBackend.start());
  const api = perSuite(() => backend.login());

  before(async () => {
    await handler('fine', { command: 'cat > /dev/null; echo thanks' });
    await handler('broken', { command: 'cat > /dev/null; exit 3' });
    await handler('unfiltered', { command: 'cat > /dev/null', filters: ['of-nobody'] });
  });

  async function handler(name: string, changes: Record<string, unknown>): Promise<void> {
    const body = { metadata: { name, namespace: 'default' }, type: 'pipe', ...changes };
    expect(await api.put(`/ns/default/handlers/${name}`, body)).to.have.property('status', 201);
  }

  it('are listed with their outcomes', async () => {
    const event = proxyEvent('switch-1', 'port', { status: 1, handlers: ['fine', 'broken', 'unfiltered', 'nobody'] });
    expect(await api.put('/ns/default/events/switch-1/port', event)).to.have.property('status', 200);
    const { json } = await eventually(
      () => api.get(`${PATH}/port/notifications`),
      (answer) => (answer.json as unknown[]).length === 4,
      { what: 'four outcomes' },
    );
    const outcomes = new Map((json as unknown[]).map((one) => [at(one, 'handler'), one]));
    expect(outcomes.get('fine')).to.include({ outcome: 'handled', reason: 'thanks\n', status: 0 });
    expect(outcomes.get('broken')).to.include({ outcome: 'failed', status: 3 });
    expect(outcomes.get('unfiltered')).to.include({ outcome: 'skipped', status: null });
    expect(String(at(outcomes.get('unfiltered'), 'reason'))).to.include('of-nobody');
    expect(outcomes.get('nobody')).to.include({ outcome: 'skipped', reason: 'handler does not exist' });
    const nowS = backend.clock.nowMs() / 1_000;
    for (const one of outcomes.values()) expect(at(one, 'decided_at')).to.be.closeTo(nowS, 1);
  });

  it('are an empty list if no handler was needed', async () => {
    await api.put('/ns/default/events/switch-1/quiet', proxyEvent('switch-1', 'quiet'));
    expect((await api.get(`${PATH}/quiet/notifications`)).json).to.deep.equal([]);
  });

  it('are answered with 404 if there never was an event', async () => {
    expect(await api.get(`${PATH}/never/notifications`)).to.have.property('status', 404);
  });
});

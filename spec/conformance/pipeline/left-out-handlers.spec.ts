import { expect } from 'chai';
import { proxyEvent } from '../../support/example-events.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';

const MON = '/api/mon/v1/namespaces/default';
const HANDLERS = 1_500;

describe('an event that leads to more than 1,000 handlers', () => {
  const backend = perSuite(() => InProcessBackend.start());

  it('has an outcome of each of them, which the search and the explanation find by its name', async () => {
    const api = await backend.login();
    const all = Array.from({ length: HANDLERS }, (_, n) => `h${n}`);
    for (const [name, handlers] of [
      ['first', all.slice(0, 900)],
      ['second', all.slice(900)],
    ] as const) {
      const body = { metadata: { name, namespace: 'default' }, type: 'set', handlers };
      expect(await api.put(`/ns/default/handlers/${name}`, body)).to.have.property('status', 201);
    }
    const event = proxyEvent('web', 'disk', { status: 2, handlers: ['first', 'second'] });
    expect(await api.put('/ns/default/events/web/disk', event))
      .to.have.property('status')
      .lessThan(300);
    for (const name of ['h0', 'h997', 'h998', 'h1499']) {
      const found = (await api.get(`${MON}/notifications?handler=${name}`)).json as object[];
      expect(found, name).to.have.lengthOf(1);
      expect(at(found, 0, 'outcome')).to.equal('skipped');
      expect([at(found, 0, 'handler'), ...(at(found, 0, 'others') as string[])]).to.include(name);
      const explained = (await api.get(`${MON}/events/web/disk/explain?handler=${name}`)).json;
      expect(at(explained, 'handlers', 'items'), name).to.have.lengthOf(1);
      expect(at(explained, 'handlers', 'items', 0, 'notification')).to.deep.equal(found[0]);
    }
    expect((await api.get(`${MON}/notifications?handler=h1500`)).json).to.deep.equal([]);
    const { json } = await api.get(`${MON}/notifications?limit=1`);
    expect(at(json, 0, 'reason')).to.match(/^an event leads to at most 1000 handlers and sets/);
    expect(at(json, 0, 'others')).to.have.lengthOf(HANDLERS - 999);
  });
});

import { expect } from 'chai';
import { EarlierWorld } from '../../support/earlier-world.ts';
import { eventually } from '../../support/eventually.ts';
import { keepalive } from '../../support/example-events.ts';
import { perTest } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';

describe('clients of the first generation', () => {
  const world = perTest(() => EarlierWorld.start());
  const client = { name: 'sw-1', address: '10.0.0.9', subscriptions: ['net'], rack: 'r1', secret: 'hidden' };

  it('are proxy entities in the REST API', async () => {
    expect((await world.core.post('/clients', client)).status).to.equal(201);
    const entity = await world.admin.entity('sw-1');
    expect(at(entity, 'entity_class')).to.equal('proxy');
    expect(at(entity, 'subscriptions')).to.deep.equal(['net', 'entity:sw-1']);
    expect(at(entity, 'metadata', 'labels')).to.deep.equal({ address: '10.0.0.9', rack: 'r1', secret: 'REDACTED' });
  });

  it('with an agent cannot be replaced', async () => {
    const agent = await world.backend.connected({ name: 'web-07' });
    agent.send('keepalive', keepalive('web-07'));
    await eventually(() => world.admin.entity('web-07'), Boolean, { what: 'the entity' });
    expect((await world.core.post('/clients', { name: 'web-07', address: 'x' })).status).to.equal(409);
    expect(at((await world.core.get('/clients/web-07')).json, 'keepalives')).to.equal(true);
  });

  it('have the number of their open events, and the worst of their statuses', async () => {
    for (let number = 1; number <= 105; number += 1) {
      const check = `c-${String(number).padStart(3, '0')}`;
      await world.result('default', 'web-07', check, { status: number < 105 ? 1 : 2, output: `o-${number}` });
    }
    expect((await world.core.get('/clients/web-07')).json).to.include({ status: 2, output: 'o-1 and 104 more...' });
    await world.core.delete('/events/web-07/c-105');
    expect((await world.core.get('/clients/web-07')).json).to.include({ status: 1, output: 'o-1 and 103 more...' });
  });

  it('have the timeouts of the keepalives of their agent', async () => {
    const agent = await world.backend.connected({ name: 'web-07' });
    for (const [timeouts, thresholds] of [
      [
        { timeout: 60, ttl: 180 },
        { warning: 60, critical: 180 },
      ],
      [{ timeout: 90, ttl: 0 }, { warning: 90 }],
    ] as const) {
      agent.send('keepalive', keepalive('web-07', timeouts));
      const { json } = await eventually(
        () => world.core.get('/clients/web-07'),
        (answer) => at(answer.json, 'keepalive', 'thresholds', 'warning') === thresholds.warning,
        { what: 'the thresholds' },
      );
      expect(at(json, 'keepalive')).to.deep.equal({ thresholds });
    }
    await world.result('default', 'web-07', 'disk', { status: 2 });
    const { json } = await world.core.get('/events/web-07/disk');
    expect(at(json, 'client', 'keepalive')).to.deep.equal({ thresholds: { warning: 90 } });
    await world.result('default', 'sw-1', 'disk');
    expect((await world.core.get('/clients/sw-1')).json).to.not.have.property('keepalive');
  });

  it('that are deleted with invalidate lose their agent, until an API creates them again', async () => {
    const agent = await world.backend.connected({ name: 'web-07' });
    agent.send('keepalive', keepalive('web-07'));
    await eventually(() => world.admin.entity('web-07'), Boolean, { what: 'the entity' });
    expect((await world.core.delete('/clients/web-07?invalidate=true')).status).to.equal(202);
    await agent.closed();
    const again = await world.backend.connect({ name: 'web-07' });
    again.send('keepalive', keepalive('web-07'));
    await again.closed();
    expect(await world.admin.entity('web-07')).to.equal(undefined);
    await world.core.post('/results', { name: 'disk', output: 'full', source: 'web-07' });
    expect((await world.core.get('/results/web-07')).json).to.deep.equal([]);
    await world.backend.restart();
    const core = EarlierWorld.reach(world.backend);
    await core.post('/results', { name: 'disk', output: 'full', source: 'web-07' });
    expect((await core.get('/results/web-07')).json).to.deep.equal([]);
    await core.post('/clients', { name: 'web-07', address: 'x' });
    await core.post('/results', { name: 'disk', output: 'full', source: 'web-07' });
    expect((await core.get('/results/web-07')).json).to.have.lengthOf(1);
    core.close();
  });

  it('that were invalidated for a time return after it', async () => {
    await world.core.post('/clients', client);
    await world.core.delete('/clients/sw-1?invalidate=true&invalidate_expire=60');
    const post = () => world.core.post('/results', { name: 'disk', output: 'full', source: 'sw-1' });
    await post();
    expect((await world.core.get('/clients/sw-1')).status).to.equal(404);
    await world.backend.clock.advance(60_000);
    await post();
    expect((await world.core.get('/clients/sw-1')).status).to.equal(200);
  });

  it('that are refused are refused by the REST API as well, with a reason', async () => {
    await world.core.post('/clients', client);
    await world.core.delete('/clients/sw-1?invalidate=true');
    const entity = { entity_class: 'proxy', metadata: { name: 'sw-1', namespace: 'default' } };
    const check = { metadata: { name: 'disk', namespace: 'default' }, interval: 60, status: 0, output: '' };
    const answer = await world.admin.put('/ns/default/events/sw-1/disk', { entity, check });
    expect(answer.status).to.equal(409);
    expect(at(answer.json, 'message')).to.contain('default/sw-1 was deleted with invalidate');
    expect((await world.admin.put('/ns/default/entities/sw-1', entity)).status).to.be.below(300);
    expect((await world.admin.put('/ns/default/events/sw-1/disk', { entity, check })).status).to.be.below(300);
  });

  it('are ambiguous in two datacenters', async () => {
    for (const dc of ['default', 'berlin']) await world.core.post('/clients', { ...client, dc });
    for (const path of ['/clients/sw-1', '/clients/sw-1/history']) {
      const { status, json } = await world.core.get(path);
      expect(status, path).to.equal(300);
      expect((json as object[]).map((one) => at(one, '_id'))).to.deep.equal(['berlin/sw-1', 'default/sw-1']);
    }
    expect((await world.core.delete('/clients/sw-1')).status).to.equal(300);
    expect((await world.core.delete('/clients/sw-1?dc=berlin')).status).to.equal(202);
    expect((await world.core.get('/clients/sw-1')).status).to.equal(200);
  });
});

describe('stashes of the first generation', () => {
  const world = perTest(() => EarlierWorld.start());

  it('survive a restart, and leave with their namespace', async () => {
    await world.core.post('/stashes', { dc: 'berlin', path: 'a/ü~b', content: { x: 1 } });
    await world.backend.restart();
    const core = EarlierWorld.reach(world.backend);
    expect((await core.get(`/stashes/a/${encodeURIComponent('ü~b')}`)).json).to.deep.equal({ x: 1 });
    const admin = await world.backend.login();
    expect((await admin.delete('/api/core/v2/namespaces/berlin')).status).to.equal(204);
    await admin.put('/api/core/v2/namespaces/berlin', { name: 'berlin' });
    expect((await core.get('/stashes')).json).to.deep.equal([]);
    core.close();
  });

  it('have at most 64 KiB and a path that can be part of a key', async () => {
    const big = await world.core.post('/stashes', { path: 'big', content: { x: 'y'.repeat(65_536) } });
    expect({ status: big.status, text: big.text }).to.deep.equal({ status: 413, text: '' });
    for (const path of ['', 'x'.repeat(601), 'ü'.repeat(101), 'a\0b']) {
      expect((await world.core.post('/stashes', { path, content: {} })).status, path.slice(0, 9)).to.equal(400);
    }
    expect((await world.core.post('/stashes', { path: '../../etc/passwd', content: {} })).status).to.equal(201);
    expect((await world.core.get('/stashes')).json).to.have.lengthOf(1);
  });

  it('are in the ledger without their content', async () => {
    await world.core.post('/stashes', { path: 'a', content: { x: 'content' } });
    await world.core.delete('/stashes/a');
    const entries = await world.admin.ledger({ actor: 'stashes' });
    expect(entries.map(({ event }) => event)).to.deep.equal(['resource.created', 'resource.deleted']);
    expect(JSON.stringify(entries)).to.not.contain('content');
  });
});

import { connect } from 'node:net';
import { once } from 'node:events';
import { expect } from 'chai';
import type { BackendConfig } from '../../../src/config/backend.ts';
import { basicHeader } from '../../../src/wire/handshake.ts';
import { EarlierWorld } from '../../support/earlier-world.ts';
import { eventually } from '../../support/eventually.ts';
import { perTest } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';

const PAIR = { username: 'ops', password: 'pass:with:colons' };
const CORS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, POST, PUT, DELETE, OPTIONS',
  'Access-Control-Allow-Headers': 'Origin, X-Requested-With, Content-Type, Accept, Authorization',
};

const configured = (config: BackendConfig): BackendConfig => ({
  ...config,
  ...(config.earlierApi && { earlierApi: { ...config.earlierApi, pair: PAIR, corsHeaders: CORS } }),
});

describe('the API of the first generation with a configured password', () => {
  const world = perTest(() => EarlierWorld.start({ configure: configured }));
  const authorization = basicHeader(PAIR);

  it('case 40: asks for it, with the headers for scripts in browsers and without a body', async () => {
    const { status, headers, text } = await world.core.get('/events');
    expect({ status, text }).to.deep.equal({ status: 401, text: '' });
    expect(headers['www-authenticate']).to.equal('Basic realm="Restricted Area"');
    for (const [name, value] of Object.entries(CORS)) expect(headers[name.toLowerCase()]).to.equal(value);
    expect(headers).to.not.have.property('access-control-allow-credentials');
  });

  it('case 41: asks for it before it looks for a route', async () => {
    expect((await world.core.get('/unknown')).status).to.equal(401);
    expect((await world.core.get('/unknown', { authorization })).status).to.equal(404);
  });

  it('case 42: answers OPTIONS without it', async () => {
    const { status, headers, text } = await world.core.send({ method: 'OPTIONS', path: '/anything' });
    expect({ status, text }).to.deep.equal({ status: 200, text: '' });
    for (const name of Object.keys(CORS)) expect(headers).to.have.property(name.toLowerCase());
  });

  it('case 43: accepts a password with colons, on both ports', async () => {
    for (const client of [world.core, world.dashboard]) {
      expect((await client.get('/events', { authorization })).status).to.equal(200);
      expect(
        (await client.get('/events', { authorization: basicHeader({ ...PAIR, password: 'pass' }) })).status,
      ).to.equal(401);
    }
  });

  it('shows health to callers without it on the port of the dashboard, and no datacenter', async () => {
    const { status, json } = await world.dashboard.get('/health');
    expect({ status, json }).to.deep.equal({ status: 200, json: { sensu: {}, uchiwa: 'ok' } });
    expect(at((await world.dashboard.get('/health', { authorization })).json, 'sensu')).to.have.keys(
      'berlin',
      'default',
    );
    expect((await world.core.get('/health')).status).to.equal(401);
  });
});

describe('the API of the first generation', () => {
  const world = perTest(() => EarlierWorld.start());

  it('case 49: makes a client of the source of a result', async () => {
    const posted = { name: 'backup', output: 'late', status: 1, source: 'nas-1' };
    expect((await world.core.post('/results', posted)).status).to.equal(202);
    expect(at(await world.admin.entity('nas-1'), 'entity_class')).to.equal('proxy');
    expect(at((await world.core.get('/events/nas-1/backup')).json, 'client', 'type')).to.equal('proxy');
  });

  it('case 51: takes a result without a source as its own', async () => {
    await world.core.post('/results', { name: 'backup', output: 'late', status: 1 });
    expect((await world.core.get('/events/mon-api/backup')).status).to.equal(200);
  });

  for (const port of ['earlierApiPort', 'dashboardPort'] as const) {
    it(`case 61: survives odd requests on its ${port}`, async () => {
      const client = port === 'earlierApiPort' ? world.core : world.dashboard;
      for (const query of ['?=', '?a=1&&b=2']) expect((await client.get(`/events${query}`)).status).to.equal(200);
      const two = 'GET /events HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2);
      const { text } = await client.sendBytes(two);
      expect(text.match(/HTTP\/1\.1 200/g)).to.have.lengthOf(2);
      const whole = (host: string): string =>
        `GET http://${host}/events HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
      expect((await client.sendBytes(whole('127.0.0.1'))).text).to.match(/^HTTP\/1\.1 200/);
      expect((await client.sendBytes(whole('attacker.example'))).text).to.match(/^HTTP\/1\.1 401/);
      const leaving = connect(world.backend[port], '127.0.0.1');
      await once(leaving, 'connect');
      leaving.write('POST /results HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{"name"');
      leaving.destroy();
      expect((await client.get('/events', { Authorization: 'Basic' })).status).to.equal(401);
      expect((await client.get('/events')).status).to.equal(200);
    });
  }

  it('case 62: keeps every datacenter after a refused change', async () => {
    expect((await world.dashboard.post('/silenced', { dc: 'berlin' })).status).to.equal(400);
    const { status, json } = await world.dashboard.get('/health');
    expect(status).to.equal(200);
    expect(at(json, 'sensu')).to.have.keys('berlin', 'default');
    expect((await world.dashboard.get('/datacenters')).json).to.have.lengthOf(2);
  });

  it('compresses lists on the port of the dashboard only', async () => {
    for (let index = 0; index < 30; index += 1) await world.result('default', `web-${index}`, 'disk', { status: 1 });
    const headers = { 'Accept-Encoding': 'gzip, deflate' };
    expect((await world.dashboard.get('/events', headers)).headers['content-encoding']).to.equal('gzip');
    expect((await world.dashboard.get('/events', { 'Accept-Encoding': 'gzip;q=0' })).json).to.have.lengthOf(30);
    expect((await world.core.get('/events', headers)).json).to.have.lengthOf(30);
  });

  it('takes only numbers that are written as integers for integers', async () => {
    const result = (members: string): string => `{"name":"disk","output":"o","source":"web-07",${members}}`;
    for (const [path, text, status] of [
      ['/results', result('"status":1.0'), 400],
      ['/results', result('"status":1e2'), 400],
      ['/results', result('"st\\u0061tus" : 1E0'), 400],
      ['/results', result('"ttl":60.0'), 400],
      ['/results', result('"executed":1e9'), 400],
      ['/results', result('"status":1.0,"status":2'), 202],
      ['/results', result('"status":2,"load":1.0,"deep":{"status":1e2,"list":[{"status":3.0}]}'), 202],
      ['/results', result('"status":2,"duration":1.0,"note":"\\"status\\":1e2,"'), 202],
      ['/silenced', '{"dc":"default","check":"disk","expire":60.0}', 400],
      ['/stashes', '{"dc":"default","path":"a","content":{"expire":1.0},"expire":6e1}', 400],
      ['/stashes', '{"dc":"default","path":"a","content":{"expire":1.0},"expire":60}', 201],
    ] as const) {
      expect((await world.core.send({ method: 'POST', path, text })).status, text).to.equal(status);
    }
    expect((await world.core.get('/results/web-07/disk')).json).to.have.nested.property('check.duration', 1);
  });

  it('answers 413 to a body above its limit', async () => {
    for (const client of [world.core, world.dashboard]) {
      const posted = { name: 'big', output: 'x'.repeat(600_000), source: 'web-07' };
      const { status, text } = await client.post('/results', posted);
      expect({ status, text }).to.deep.equal({ status: 413, text: '' });
    }
  });

  it('reports a store that cannot be written, and goes on to serve reads', async () => {
    await world.result('default', 'web-07', 'disk', { status: 2 });
    world.backend.store.failUntilHealed();
    const answer = await eventually(
      () => world.core.post('/results', { name: 'disk', output: 'full', source: 'web-07' }),
      ({ status }) => status === 500,
      { what: 'the failure' },
    );
    expect(answer.json).to.deep.equal({ error: 'not connected to redis' });
    for (const client of [world.core, world.dashboard]) {
      expect((await client.get('/events')).json).to.have.lengthOf(1);
      expect((await client.delete('/events/web-07/disk')).status).to.equal(500);
    }
    expect((await world.core.get('/health')).json).to.deep.equal(['not connected to redis']);
    expect(at((await world.core.get('/info')).json, 'redis')).to.deep.equal({ connected: false });
    expect((await world.dashboard.get('/health')).status).to.equal(503);
  });
});

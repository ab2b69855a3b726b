import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { expect } from 'chai';
import { AgentProcess } from '../../agent/agent-process.ts';
import { BackendProcess } from '../../support/backend-process.ts';
import { eventually } from '../../support/eventually.ts';
import { perSuite } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { listenLocally, portOf } from '../../support/local-server.ts';
import { PipelineUser } from '../../support/pipeline-user.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const PLUGINS = '/usr/lib/nagios/plugins';
/** A top-level domain that never exists. */
const NOWHERE = 'web.invalid';

describe('plugins of the distribution, run by an agent, through to a handler', function () {
  this.timeout(120_000);
  const backend = perSuite(() => BackendProcess.start());
  const api = perSuite(() => backend.login());
  const directory = perSuite(temporaryDirectory, (made) => made.remove());
  const user = perSuite(() => new PipelineUser(api, directory.path));
  const site = perSuite(
    async () => {
      const server = createServer((_, response) => response.end('welcome'));
      await listenLocally(server);
      return { server, port: portOf(server) };
    },
    ({ server }) => {
      server.closeAllConnections();
      server.close();
    },
  );
  let agent: AgentProcess | undefined;
  after(() => agent?.kill());

  before(async () => {
    agent = AgentProcess.start(`ws://127.0.0.1:${backend.agentPort}`, '--subscriptions', 'plugins');
    const registered = { what: 'the entity of the agent', withinMs: 20_000 };
    await eventually(() => api.event('tester', 'keepalive'), Boolean, registered);
  });

  /** Runs a plugin once. Returns the event that the handler of its metrics received. */
  async function handled(name: string, command: string): Promise<unknown> {
    await user.handler(name);
    const check = { command, interval: 3_600, subscriptions: ['plugins'], handlers: [name], timeout: 30 };
    const metrics = { output_metric_format: 'nagios_perfdata', output_metric_handlers: [name] };
    await user.put('checks', name, { ...check, ...metrics });
    const { status } = await api.post(`/ns/default/checks/${name}/execute`, { subscriptions: ['plugins'] });
    expect(status).to.equal(202);
    const input = (): unknown => JSON.parse(readFileSync(user.path(name), 'utf8'));
    return eventually(
      () => {
        try {
          return input();
        } catch {
          return undefined;
        }
      },
      Boolean,
      { what: `the input of the handler ${name}`, withinMs: 30_000 },
    );
  }

  const pointsOf = (event: unknown): Record<string, unknown> =>
    Object.fromEntries(
      (at(event, 'metrics', 'points') as { name: string; value: number }[]).map(({ name, value }) => [name, value]),
    );

  it('check_load has the load of the machine', async () => {
    const event = await handled('load', `${PLUGINS}/check_load -w 1000,1000,1000 -c 2000,2000,2000`);
    expect(at(event, 'check', 'status')).to.equal(0);
    expect(at(event, 'check', 'output')).to.match(/load average/);
    expect(pointsOf(event)).to.have.all.keys('load1', 'load5', 'load15');
  });

  it('check_disk has the use of a file system', async () => {
    const event = await handled('disk', `${PLUGINS}/check_disk -w 1 -c 1 -p /`);
    expect(at(event, 'check', 'output')).to.match(/^DISK /);
    expect(pointsOf(event)['/']).to.be.above(0);
  });

  it('check_http has the time and the size of a page', async () => {
    const event = await handled('http', `${PLUGINS}/check_http -I 127.0.0.1 -p ${site.port}`);
    expect(at(event, 'check', 'status')).to.equal(0);
    expect(pointsOf(event)['size']).to.be.above('welcome'.length);
    expect(pointsOf(event)['time']).to.be.within(0, 10);
  });

  it('a name that does not exist is critical, and has no metrics', async () => {
    const event = await handled('name', `${PLUGINS}/check_http -H ${NOWHERE} -t 10`);
    expect(at(event, 'check', 'status')).to.be.oneOf([2, 3]);
    expect(at(event, 'check', 'output')).to.match(/name|resol|address/i);
    expect(at(event, 'metrics', 'points')).to.equal(null);
    expect(at(event, 'check', 'state')).to.equal('failing');
  });
});

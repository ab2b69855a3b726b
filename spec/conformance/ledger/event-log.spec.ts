import { existsSync } from 'node:fs';
import { readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ApiClient } from '../../support/api-client.ts';
import { BackendProcess } from '../../support/backend-process.ts';
import { eventually } from '../../support/eventually.ts';
import { agentEntity, proxyEvent } from '../../support/example-events.ts';
import { perTest } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

type Json = Record<string, unknown>;

async function eventsIn(file: string): Promise<Json[]> {
  const lines = (await readFile(file, 'utf8')).split('\n');
  expect(lines.pop()).to.equal('');
  return lines.map((line) => JSON.parse(line) as Json);
}

/** The entity, check and status of an event; an event with metrics only has no check. */
const described = (event: unknown): unknown[] => [
  at(event, 'entity', 'metadata', 'name'),
  at(event, 'check', 'metadata', 'name'),
  at(event, 'check', 'status'),
];

describe('the event log of a backend', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  let file: string;

  beforeEach(() => {
    file = join(directory.path, 'events.log');
  });

  describe('in the test process', () => {
    const backend = perTest(() => {
      const eventLog = { file, maxBuffered: 1_000 };
      return RestartableBackend.start({ configure: (config) => ({ ...config, eventLog }) });
    });
    let api: ApiClient;

    beforeEach(async () => {
      api = await backend.login();
    });

    /** Stops the backend, so that all lines are written. */
    async function written(): Promise<Json[]> {
      await backend.halt();
      return eventsIn(file);
    }

    it('has a line for each stored event of agents, of the API and of the backend itself', async () => {
      const agent = await ReportingAgent.connect(backend, 'log-01');
      await agent.keepalive({ timeout: 10, interval: 5 });
      await agent.result('disk', { status: 1, ttl: 5, interval: 2 });
      await agent.result('disk', { status: 1, ttl: 60, interval: 2, metadata: { name: 'disk', namespace: 'default' } });
      const stored = await api.event('log-01', 'disk');
      await api.put('/ns/default/events/log-sw/port', proxyEvent('log-sw', 'port'));
      await agent.result('', {}, { check: undefined, metrics: { handlers: [], points: [{ name: 'm', value: 1 }] } });
      await agent.vanish();
      await backend.clock.advance(10_000);
      const events = await written();
      expect(events.map(described)).to.deep.equal([
        ['log-01', 'keepalive', 0],
        ['log-01', 'disk', 1],
        ['log-01', 'disk', 1],
        ['log-sw', 'port', 0],
        ['log-01', undefined, undefined],
        ['log-01', 'keepalive', 1],
      ]);
      expect(events[2]).to.deep.equal(stored);
      expect(at(events[2], 'check', 'occurrences')).to.equal(2);
      expect(at(events[4], 'metrics', 'points', 0, 'name')).to.equal('m');
    });

    it('has the events of check TTLs', async () => {
      const agent = await ReportingAgent.connect(backend, 'log-01');
      await agent.keepalive();
      await agent.result('beat', { ttl: 5, interval: 2 });
      await backend.clock.advance(5_000);
      expect((await written()).map(described)).to.deep.equal([
        ['log-01', 'keepalive', 0],
        ['log-01', 'beat', 0],
        ['log-01', 'beat', 1],
      ]);
    });

    it('has neither registrations nor the resolutions at a deregistration', async () => {
      const agent = await ReportingAgent.connect(backend, 'log-01');
      await agent.keepalive({ timeout: 5, interval: 2, entity: { deregister: true } });
      await agent.vanish();
      await backend.clock.advance(5_000);
      expect(await api.entity('log-01')).to.equal(undefined);
      expect((await written()).map(described)).to.deep.equal([['log-01', 'keepalive', 0]]);
    });

    it('writes each event on one line and redacts it', async () => {
      const agent = await ReportingAgent.connect(backend, 'log-01');
      const output = 'one\ntwo\r\n\u001b[31mred\u0085\u2028';
      const labels = { password: 'hunter2', site: 'fra' };
      const entity = agentEntity('log-01', { metadata: { name: 'log-01', namespace: 'default', labels } });
      await agent.result('c', { output }, { entity });
      const [event, ...others] = await written();
      expect(others).to.deep.equal([]);
      expect(at(event, 'check', 'output')).to.equal(output);
      expect(at(event, 'entity', 'metadata', 'labels')).to.deep.equal({ password: 'REDACTED', site: 'fra' });
    });

    it('has no event of a failed write and no refused event', async () => {
      const answers: number[] = [];
      const put = async (check: string, changes: Json = {}): Promise<void> => {
        const event = proxyEvent('log-sw', check, changes);
        answers.push((await api.put(`/ns/default/events/log-sw/${check}`, event)).status);
      };
      await put('kept');
      backend.store.failNextWrites(1);
      await put('lost');
      await backend.clock.advance(1_000);
      await put('refused', { ttl: 1 });
      await put('after');
      expect(answers).to.deep.equal([200, 503, 400, 200]);
      expect((await written()).map((event) => at(event, 'check', 'metadata', 'name'))).to.deep.equal(['kept', 'after']);
    });

    it('continues in the same file after a restart', async () => {
      await api.put('/ns/default/events/log-sw/one', proxyEvent('log-sw', 'one'));
      await backend.halt();
      await backend.resume();
      api = await backend.login();
      await api.put('/ns/default/events/log-sw/two', proxyEvent('log-sw', 'two'));
      expect((await written()).map((event) => at(event, 'check', 'metadata', 'name'))).to.deep.equal(['one', 'two']);
    });
  });

  describe('in a process of its own', () => {
    const checksOf = async (path: string): Promise<unknown[]> =>
      (await eventsIn(path)).map((event) => at(event, 'check', 'metadata', 'name'));

    const put = async (api: ApiClient, check: string): Promise<void> => {
      const { status } = await api.put(`/ns/default/events/log-sw/${check}`, proxyEvent('log-sw', check));
      expect(status).to.equal(200);
    };

    it('spec/06 cases 14 and 16: continues in a new file at SIGHUP after the old one was renamed', async () => {
      const backend = await BackendProcess.start({ args: ['--event-log-file', file] });
      try {
        const api = await backend.login();
        await put(api, 'one');
        await eventually(async () => (await checksOf(file)).length === 1, Boolean, { what: 'the first event' });
        expect((await stat(file)).mode & 0o777).to.equal(0o644);
        await rename(file, `${file}.1`);
        await put(api, 'two');
        await eventually(async () => (await checksOf(`${file}.1`)).length === 2, Boolean, { what: 'the second event' });
        process.kill(backend.pid, 'SIGHUP');
        await eventually(() => existsSync(file), Boolean, { what: 'the new file' });
        await put(api, 'three');
        await eventually(async () => (await checksOf(file)).length === 1, Boolean, { what: 'the third event' });
        expect(await checksOf(file)).to.deep.equal(['three']);
        expect(await checksOf(`${file}.1`)).to.deep.equal(['one', 'two']);
      } finally {
        await backend.stop();
      }
    });

    it('spec/06 case 16: causes a warning when its file cannot be written, and the backend continues to run', async () => {
      const unwritable = join(directory.path, 'nowhere', 'events.log');
      const backend = await BackendProcess.start({ args: ['--event-log-file', unwritable] });
      try {
        await put(await backend.login(), 'one');
        const warning = backend.logs.find((line) => String(at(line, 'msg')).startsWith('event log cannot be opened'));
        expect(warning).to.deep.include({ level: 'warning', component: 'event-log', file: unwritable });
      } finally {
        await backend.stop();
      }
    });
  });
});

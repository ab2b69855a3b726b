import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { firstTickAtMs } from '../../../src/rules/splay.ts';
import type { AgentClient } from '../../support/agent-client.ts';
import { jsonOf } from '../../support/agent-client.ts';
import type { ApiClient } from '../../support/api-client.ts';
import { perTest } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

const md5 = (text: string): Uint8Array => createHash('md5').update(text).digest();

describe('a scheduled check', () => {
  const backend = perTest(() => RestartableBackend.start());
  let api: ApiClient;
  let agent: AgentClient;

  beforeEach(async () => {
    api = await backend.login();
    agent = await registered('runner', 'sys');
  });

  /** An agent receives requests by the subscriptions of its stored entity. */
  async function registered(name: string, subscription: string): Promise<AgentClient> {
    const reporting = await ReportingAgent.connect(backend, name, { subscriptions: [subscription] });
    await reporting.keepalive({ entity: { subscriptions: [subscription, `entity:${name}`] } });
    await reporting.socket.ping('registered');
    while (reporting.socket.waitingFrames.length > 0) await reporting.socket.next('entity_config');
    return reporting.socket;
  }

  async function put(name: string, interval: number, changes: Record<string, unknown> = {}): Promise<void> {
    const metadata = { name, namespace: 'default' };
    const check = { metadata, command: 'first', interval, subscriptions: ['sys'], publish: true, ...changes };
    expect(await api.put(`/ns/default/checks/${name}`, check)).to.have.property('status', 201);
    await backend.clock.settle();
  }

  /** The number of requests since the last call, as `command issued`. */
  async function requests(): Promise<string[]> {
    await agent.ping(`after ${backend.clock.monotonicMs()}`);
    const frames = agent.waitingFrames.length;
    const said: string[] = [];
    for (let n = 0; n < frames; n += 1) {
      const frame = await agent.nextFrame();
      expect(frame.type).to.equal('check_request');
      const request = jsonOf(frame);
      said.push(`${String(at(request, 'config', 'command'))} ${String(at(request, 'issued'))}`);
    }
    return said;
  }

  const untilTick = (name: string, interval: number): number =>
    firstTickAtMs(md5, name, interval, backend.clock.nowMs()) - backend.clock.nowMs();

  const vectors: [string, number, number][] = [
    ['check_cpu', 60, 21_932],
    ['check-disk', 10, 6_679],
    ['check_4', 60, 7_886],
  ];
  for (const [name, interval, firstMs] of vectors) {
    it(`${name} with an interval of ${interval} s first runs after ${firstMs} ms, and then once per interval`, async () => {
      await put(name, interval);
      await backend.clock.advance(firstMs - 1);
      expect(await requests()).to.deep.equal([]);
      await backend.clock.advance(1);
      expect(await requests()).to.deep.equal([`first ${backend.nowS}`]);
      await backend.clock.advance(interval * 1_000 - 1);
      expect(await requests()).to.deep.equal([]);
      await backend.clock.advance(1);
      expect(await requests()).to.have.lengthOf(1);
    });
  }

  it('keeps its grid after a restart, without runs for missed ticks', async () => {
    await put('check-disk', 10);
    await backend.clock.advance(6_679);
    await backend.downFor(25_000);
    api = await backend.login();
    agent = await registered('runner', 'sys');
    expect(await requests()).to.deep.equal([]);
    await backend.clock.advance(4_999);
    expect(await requests()).to.deep.equal([]);
    await backend.clock.advance(1);
    expect(await requests()).to.have.lengthOf(1);
  });

  it('skips the ticks that a jump of the clock passed', async () => {
    await put('check-disk', 10);
    backend.clock.jump(33_000);
    await backend.clock.advance(13_678);
    expect(await requests()).to.deep.equal([]);
    await backend.clock.advance(1);
    expect(await requests()).to.have.lengthOf(1);
  });

  it('uses its new definition from its next tick on', async () => {
    await put('check-disk', 10);
    await backend.clock.advance(6_000);
    await put('check-disk', 10, { command: 'second' });
    await backend.clock.advance(679);
    expect(await requests()).to.deep.equal([`second ${backend.nowS}`]);
  });

  it('starts a new grid when its interval is changed', async () => {
    await put('check-disk', 3_600);
    await put('check-disk', 60);
    const firstMs = untilTick('check-disk', 60);
    await backend.clock.advance(firstMs - 1);
    expect(await requests()).to.deep.equal([]);
    await backend.clock.advance(1);
    expect(await requests()).to.have.lengthOf(1);
    await backend.clock.advance(60_000);
    expect(await requests()).to.have.lengthOf(1);
  });

  it('does not run while it is not published, and returns to its grid', async () => {
    await put('check-disk', 10, { publish: false });
    await backend.clock.advance(36_679);
    expect(await requests()).to.deep.equal([]);
    await put('check-disk', 10);
    await backend.clock.advance(9_999);
    expect(await requests()).to.deep.equal([]);
    await backend.clock.advance(1);
    expect(await requests()).to.have.lengthOf(1);
  });

  it('does not run after its deletion', async () => {
    await put('check-disk', 10);
    expect(await api.delete('/ns/default/checks/check-disk')).to.have.property('status', 204);
    await backend.clock.advance(60_000);
    expect(await requests()).to.deep.equal([]);
    const states = (await api.ledger({ actor: 'check-schedule', key: 'default/check-disk' })).map(({ to }) => to);
    expect(states).to.deep.equal(['scheduled', 'removed']);
  });

  it('runs on its subscribers only', async () => {
    const other = await registered('other', 'db');
    await put('check-disk', 10);
    await backend.clock.advance(6_679);
    expect(await requests()).to.have.lengthOf(1);
    await other.ping('x');
    expect(other.waitingFrames).to.deep.equal([]);
  });
});

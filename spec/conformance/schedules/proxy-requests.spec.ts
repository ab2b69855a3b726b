import { expect } from 'chai';
import type { ApiClient } from '../../support/api-client.ts';
import { type ReceivedRequest, SubscribedAgent } from '../../support/subscribed-agent.ts';
import { eventually } from '../../support/eventually.ts';
import { readGolden } from '../../support/golden-file.ts';
import { difference } from '../../support/golden-match.ts';
import { at } from '../../support/json-path.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

interface Recorded {
  name: string;
  entity_attributes: string[];
  command: string;
  /** The entity and command of each request of one tick, in order. */
  onePass: [string, string][];
  request?: unknown;
}

const recording = JSON.parse(readGolden('schedule/requests.json').replaceAll('{ns}', 'default')) as {
  proxyEntities: [string, Record<string, string> | null][];
  proxy: Recorded[];
};

describe('a check with proxy requests', () => {
  let backend: RestartableBackend;
  let api: ApiClient;
  let gold: SubscribedAgent;

  async function start(): Promise<void> {
    backend = await RestartableBackend.start();
    api = await backend.login();
    gold = await SubscribedAgent.register(backend, 'gold', 'g', 'g2');
  }

  async function putProxies(...names: string[]): Promise<void> {
    for (const name of names) await putEntity(name, { url: `http://${name}` });
  }

  async function putEntity(name: string, labels: Record<string, string> | null): Promise<void> {
    const metadata = { name, namespace: 'default', labels };
    const entity = { entity_class: 'proxy', subscriptions: ['zz'], metadata };
    expect((await api.put(`/ns/default/entities/${name}`, entity)).status).to.be.oneOf([200, 201]);
  }

  async function put(proxyRequests: object, changes: object = {}, name = 'c'): Promise<void> {
    const check = {
      metadata: { name, namespace: 'default' },
      command: 'c {{ .name }}',
      interval: 10,
      subscriptions: ['g'],
      publish: true,
      proxy_requests: { entity_attributes: ['entity.entity_class == "proxy"'], ...proxyRequests },
    };
    expect(await api.put(`/ns/default/checks/${name}`, { ...check, ...changes })).to.have.property('status', 201);
    await backend.clock.settle();
  }

  /** Evaluates expressions in real time while the backend's clock stands still. */
  async function askedOf(agent: SubscribedAgent, count: number): Promise<ReceivedRequest[]> {
    const asked: ReceivedRequest[] = [];
    const more = async (): Promise<number> => asked.push(...(await agent.requests()));
    await eventually(more, (length) => length >= count, { what: `${count} requests`, withinMs: 20_000 });
    return asked;
  }

  const passOf = (asked: readonly ReceivedRequest[]): [string, string][] =>
    asked.map(({ proxyEntity, command }) => [proxyEntity, command]);

  const schedule = async (): Promise<unknown> =>
    (await api.get('/api/mon/v1/namespaces/default/checks/c/schedule')).json;
  const skip = (reason: string): Promise<unknown> =>
    eventually(
      async () => at(await schedule(), 'last_skip'),
      (found) => at(found, 'reason') === reason,
      { what: reason, withinMs: 20_000 },
    );

  describe('as recorded', () => {
    before(async () => {
      await start();
      for (const [name, labels] of recording.proxyEntities) await putEntity(name, labels);
    });

    after(() => backend.stop());

    for (const { name, entity_attributes, command, onePass, request } of recording.proxy) {
      it(`${name}: selects ${onePass.map(([entity]) => entity).join(', ') || 'no entity'} by ${JSON.stringify(entity_attributes)}`, async () => {
        await put({ entity_attributes }, { command, interval: 5 }, name);
        // A run that a user requests equals a run at a tick.
        expect((await api.post(`/ns/default/checks/${name}/execute`, {})).status).to.equal(202);
        if (onePass.length === 0) {
          await eventually(
            () =>
              backend.log.lines.find(
                ({ msg, fields }) => msg === 'check will not be published for its entities' && fields['check'] === name,
              ),
            Boolean,
            { withinMs: 20_000 },
          );
        }
        const asked = await askedOf(gold, onePass.length);
        expect(passOf(asked)).to.deep.equal(onePass);
        if (request === undefined) return;
        const sent = asked.find(({ proxyEntity }) => proxyEntity === 'r1')?.request;
        expect(difference(request, sent)).to.equal(undefined);
      });
    }
  });

  describe('of its own', () => {
    beforeEach(start);
    afterEach(() => backend.stop());

    it('requests each entity from all subscribers at each tick', async () => {
      await putProxies('p2', 'p1');
      const other = await SubscribedAgent.register(backend, 'other', 'g');
      await put({});
      await backend.clock.advance(10_000);
      for (const agent of [gold, other]) {
        expect(passOf(await askedOf(agent, 2))).to.deep.equal([
          ['p1', 'c p1'],
          ['p2', 'c p2'],
        ]);
      }
      expect(at(await schedule(), 'last_skip')).to.equal(null);
    });

    it('spreads its requests over the configured part of its interval, including the first', async () => {
      await putProxies('p1', 'p2', 'p3');
      await put({ splay: true, splay_coverage: 90 }, { interval: 60 });
      const next = at(await schedule(), 'next_at') as number;
      await backend.clock.advance(next * 1_000 + 1_000 - backend.clock.nowMs());
      const tickMs = backend.clock.nowMs();
      await planned();
      const times: number[] = [];
      for (let n = 0; n < 3; n += 1) {
        await backend.clock.advance(17_900);
        expect(await gold.requestCount()).to.equal(0);
        await backend.clock.advance(100);
        expect(passOf(await gold.requests())).to.deep.equal([[`p${n + 1}`, `c p${n + 1}`]]);
        times.push(backend.clock.nowMs() - tickMs);
      }
      expect(times).to.deep.equal([18_000, 36_000, 54_000]);
    });

    /** The entities are selected, and the first request is scheduled. */
    const planned = () =>
      eventually(() => backend.log.lines.find(({ msg }) => msg === 'requesting the check for its entities'), Boolean, {
        withinMs: 20_000,
      });

    it('drops the rest of a run when the check is changed or deleted, and logs it', async () => {
      await putProxies('p1', 'p2', 'p3');
      await put({ splay: true, splay_coverage: 90 });
      await backend.clock.advance(10_000);
      await planned();
      await backend.clock.advance(3_100);
      expect(passOf(await gold.requests())).to.deep.equal([['p1', 'c p1']]);
      await put({ splay: true, splay_coverage: 90 }, { command: 'changed' });
      expect(await skip('check changed')).to.deep.include({ detail: '2 of 3 requests were left out' });
      await backend.clock.advance(3_100);
      expect(await gold.requestCount()).to.equal(0);
    });

    it('requests each entity from the next agent if it is a round-robin check', async () => {
      await putProxies('p1', 'p2', 'p3', 'p4', 'p5');
      const [a, b] = [
        await SubscribedAgent.register(backend, 'a', 'rr'),
        await SubscribedAgent.register(backend, 'b', 'rr'),
      ];
      await put({}, { round_robin: true, subscriptions: ['rr'] });
      const entitiesOf = async (agent: SubscribedAgent, count: number) =>
        (await askedOf(agent, count)).map(({ proxyEntity }) => proxyEntity);
      await backend.clock.advance(10_000);
      expect(await entitiesOf(a, 3)).to.deep.equal(['p1', 'p3', 'p5']);
      expect(await entitiesOf(b, 2)).to.deep.equal(['p2', 'p4']);
      await backend.clock.advance(10_000);
      expect(await entitiesOf(a, 2)).to.deep.equal(['p2', 'p4']);
      expect(await entitiesOf(b, 3)).to.deep.equal(['p1', 'p3', 'p5']);
    });

    it('skips an entity whose tokens cannot be substituted, and logs it', async () => {
      await putEntity('p1', null);
      await putEntity('p2', { foo: 'bar' });
      await put({}, { command: '{{ .labels.foo }}' });
      await backend.clock.advance(10_000);
      expect(passOf(await askedOf(gold, 1))).to.deep.equal([['p2', 'bar']]);
      expect(await skip('tokens not substituted'))
        .to.have.property('detail')
        .that.matches(/^p1: .*has no entry for key "foo"$/);
      const line = backend.log.lines.find(({ msg }) => msg === 'could not substitute tokens for proxy entity');
      expect(line?.fields).to.deep.include({ namespace: 'default', check: 'c', entity: 'p1' });
    });

    it('fills its labels, annotations and environment, omits an empty command, and marks its texts as final for agents', async () => {
      await putEntity('p1', { site: 'fra {{ .name }}', empty: '' });
      const metadata = {
        name: 'c',
        namespace: 'default',
        labels: { '{{ .name }}': '{{ .labels.site }}' },
        annotations: { runbook: 'of {{ .name }}' },
      };
      await put({}, { metadata, command: '{{ .labels.empty }}', env_vars: ['E={{ .name }}'] });
      await backend.clock.advance(10_000);
      const [asked] = await askedOf(gold, 1);
      expect(asked?.request).to.have.property('tokens_filled', true);
      const config = at(asked?.request, 'config');
      expect(config).to.deep.include({ env_vars: ['E=p1'], proxy_entity_name: 'p1' });
      expect(config).not.to.have.property('command');
      expect(at(config, 'metadata')).to.deep.include({
        name: 'c',
        labels: { '{{ .name }}': 'fra {{ .name }}' },
        annotations: { runbook: 'of p1' },
      });
    });

    it('skips an entity for which the request exceeds 1 MiB, and logs it', async () => {
      await putEntity('p1', { x: 'x'.repeat(200_000) });
      await putEntity('p2', { x: 'x' });
      await put({}, { command: '{{ .labels.x }}'.repeat(6) });
      await backend.clock.advance(10_000);
      expect(passOf(await askedOf(gold, 1))).to.deep.equal([['p2', 'xxxxxx']]);
      expect(await skip('too long')).to.deep.include({
        detail: 'p1: command: too long: the filled strings exceed 1048576 bytes',
      });
    });

    it('reports what prevents the selection of all entities', async () => {
      await putProxies('p1');
      await put({ entity_attributes: ['entity.labels.nope.x'] });
      await backend.clock.advance(10_000);
      expect(await skip('no matching entities'))
        .to.have.property('detail')
        .that.matches(/^gold: TypeError: /);
      await put({ entity_attributes: ['if (entity.name === "gold") while (true) {} true'] });
      await backend.clock.advance(10_000);
      expect(passOf(await askedOf(gold, 1))).to.deep.equal([['p1', 'c p1']]);
      expect(await skip('entity attributes failed')).to.include({ detail: 'gold: took too long' });
      await put({ entity_attributes: ['while (true) {}'] });
      await backend.clock.advance(10_000);
      await eventually(
        async () =>
          (await api.ledger({ actor: 'checks', key: 'default/c' })).map(({ details }) => at(details, 'reason')),
        (reasons) => reasons.includes('entity attributes failed'),
        { withinMs: 20_000 },
      );
      expect(await gold.requestCount()).to.equal(0);
    });

    it('leaves out an entity at which an expression was stopped, for ten seconds, and requests the others', async () => {
      await putProxies('p1');
      await put({ entity_attributes: ['if (entity.name === "gold") while (true) {} true'] }, { interval: 5 });
      const [stopped, leftOut] = ['gold: took too long', 'gold: stopped earlier'];
      for (const detail of [stopped, leftOut, leftOut, stopped]) {
        await backend.clock.advance(5_000);
        expect(passOf(await askedOf(gold, 1))).to.deep.equal([['p1', 'c p1']]);
        await eventually(
          async () => at(await schedule(), 'last_skip'),
          (found) => at(found, 'detail') === detail,
          { what: detail },
        );
      }
    });

    it('does not run for ten seconds after an expression was stopped at three entities, which its schedule shows', async () => {
      await putProxies('p1', 'p2');
      await put({ entity_attributes: ['while (true) {}'] }, { interval: 5 });
      const why = 'gold: took too long';
      const pausedFor = (seconds: number): string => `not evaluated for ${seconds} s after ${why}`;
      for (const detail of [why, pausedFor(10), pausedFor(10), why, pausedFor(20)]) {
        await backend.clock.advance(5_000);
        await eventually(
          async () => at(await schedule(), 'last_skip'),
          (found) => at(found, 'reason') === 'entity attributes failed' && at(found, 'detail') === detail,
          { what: detail, withinMs: 20_000 },
        );
      }
      expect(await gold.requestCount()).to.equal(0);
    });

    it('does not block the event loop while expressions run without end', async () => {
      await putProxies('p1', 'p2', 'p3', 'p4');
      await put({ entity_attributes: ['new Array(1e9) + ""'] });
      await backend.clock.advance(10_000);
      expect((await api.get('/ns/default/checks/c')).status).to.equal(200);
      await skip('entity attributes failed');
    });

    it('selects among more entities than one slice examines', async () => {
      for (let n = 100; n < 230; n += 1) await putEntity(`p${n}`, { odd: String(n % 2) });
      await put({ entity_attributes: ['entity.labels.odd === "1"'] });
      await backend.clock.advance(10_000);
      const names = (await askedOf(gold, 65)).map(({ proxyEntity }) => proxyEntity);
      expect(names).to.deep.equal(Array.from({ length: 65 }, (_, n) => `p${101 + 2 * n}`));
    });
  });
});

import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { BackendProcess } from '../support/backend-process.ts';
import { eventually } from '../support/eventually.ts';
import { keepalive } from '../support/example-events.ts';
import { perTest } from '../support/fixture.ts';
import { at } from '../support/json-path.ts';
import { ObservedProcess } from './observed-process.ts';

const ENTITIES = 20;
const LABEL_BYTES = 250_000;
const TOKENS = 1_200;
const MANY_TOKENS = 20_000;
/** Without a bound, one request takes 300 MB and all of them 6 GB. */
const MEMORY_MB = 300;
/** Without a bound, the event loop stops for more than ten seconds. */
const LATE_MS = 2_000;
const KEEPALIVE_EVERY_MS = 10;
const FAILED = 'could not substitute tokens for proxy entity';

describe('A1: a check with proxy requests whose tokens are an attack', function () {
  this.timeout(120_000);
  const backend = perTest(() => BackendProcess.start());
  const api = perTest(() => backend.login());
  const agent = perTest(() => backend.connect({ name: 'web-01', subscriptions: ['g'] }));

  async function putEntities(labels: object): Promise<void> {
    for (let n = 0; n < ENTITIES; n += 1) {
      const metadata = { name: `p${n}`, namespace: 'default', labels };
      const { status } = await api.put(`/ns/default/entities/p${n}`, { entity_class: 'proxy', metadata });
      expect(status).to.be.oneOf([200, 201]);
    }
  }

  async function execute(command: string): Promise<void> {
    const check = {
      metadata: { name: 'c', namespace: 'default' },
      command,
      interval: 3_600,
      subscriptions: ['g'],
      publish: true,
      proxy_requests: { entity_attributes: ['entity.entity_class == "proxy"'] },
    };
    expect((await api.put('/ns/default/checks/c', check)).status).to.equal(201);
    expect((await api.post('/ns/default/checks/c/execute', {})).status).to.equal(202);
  }

  const refusals = (): unknown[] => backend.logs.filter((line) => at(line, 'msg') === FAILED);

  /** Sends keepalives until all requests are refused. Returns the longest time until one was decided, ms. */
  async function slowestKeepaliveMs(): Promise<number> {
    let slowestMs = 0;
    for (let n = 0; refusals().length < ENTITIES; n += 1) {
      agent.send('keepalive', keepalive('web-01'));
      slowestMs = Math.max(slowestMs, await agent.ping(String(n), 60_000));
      await delay(KEEPALIVE_EVERY_MS);
    }
    return slowestMs;
  }

  it('ends no backend: a filled request of more than 1 MiB is refused while it is filled', async () => {
    await putEntities({ x: 'x'.repeat(LABEL_BYTES) });
    const observed = new ObservedProcess(backend.pid);
    const beforeMb = observed.ownMemoryMb;
    await execute('{{.labels.x}}'.repeat(TOKENS));
    expect(await slowestKeepaliveMs()).to.be.below(LATE_MS);
    expect(observed.ownMemoryMb - beforeMb).to.be.below(MEMORY_MB);
    expect(at(refusals()[0], 'error')).to.equal('command: too long: the filled strings exceed 1048576 bytes');
  });

  it('does not hold the event loop: a check has at most 20,000 lexemes', async () => {
    await putEntities({});
    await execute('{{ .name }}\n'.repeat(MANY_TOKENS));
    expect(await slowestKeepaliveMs()).to.be.below(LATE_MS);
    expect(at(refusals()[0], 'error')).to.match(/^command: could not parse the template: .* more than 20000 lexemes$/);
  });

  it('does not hold the event loop: a filled check takes at most 50,000 steps', async () => {
    await putEntities({ x: 'x'.repeat(LABEL_BYTES) });
    await execute('{{range $.labels}}{{range 1000000}}{{$_ := html $.labels.x}}{{end}}{{end}}');
    expect(await slowestKeepaliveMs()).to.be.below(LATE_MS);
    await eventually(
      () => refusals().length,
      (count) => count === ENTITIES,
    );
    expect(at(refusals()[0], 'error')).to.match(/needs more than 50000 steps$/);
  });
});

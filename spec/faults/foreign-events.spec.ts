import { expect } from 'chai';
import type { AgentEventsPolicy } from '../../src/actors/core/settings.ts';
import type { ApiClient } from '../support/api-client.ts';
import { agentEntity, checkEvent, keepalive, proxyEvent } from '../support/example-events.ts';
import { at } from '../support/json-path.ts';
import { ReportingAgent } from '../support/reporting-agent.ts';
import { RestartableBackend } from '../support/restartable-backend.ts';

type Json = Record<string, unknown>;

const ATTACKER = 'attacker';
const VICTIM = 'victim';
const PROXY = 'switch-01';
const UNKNOWN = 'unknown';
const OTHER_NAMESPACE = 'other';

/** Which events that the attacker sends for another entity are stored. */
const STORED: Record<AgentEventsPolicy, { victim: boolean; proxy: boolean; unknown: boolean }> = {
  own: { victim: false, proxy: false, unknown: false },
  'own-and-proxies': { victim: false, proxy: true, unknown: true },
  any: { victim: true, proxy: true, unknown: true },
};

for (const policy of Object.keys(STORED) as AgentEventsPolicy[]) {
  describe(`A12: an agent that sends events of others under the policy ${policy}`, () => {
    let backend: RestartableBackend;
    let api: ApiClient;
    let attacker: ReportingAgent;

    before(async () => {
      backend = await RestartableBackend.start({
        configure: (config) => ({ ...config, agentEventsPolicy: policy }),
      });
      api = await backend.login();
      expect(await api.put(`/api/core/v2/namespaces/${OTHER_NAMESPACE}`, { name: OTHER_NAMESPACE })).to.have.property(
        'status',
        201,
      );
      await api.put(`/ns/default/events/${PROXY}/port`, proxyEvent(PROXY, 'port'));
      const victim = await ReportingAgent.connect(backend, VICTIM);
      await victim.keepalive();
      attacker = await ReportingAgent.connect(backend, ATTACKER);
      await attacker.keepalive();
    });

    after(() => backend.stop());

    async function send(type: string, event: Json): Promise<void> {
      attacker.socket.send(type, event);
      await attacker.result('own');
    }

    const isStored = async (entity: string, check = 'foreign') => (await api.event(entity, check)) !== undefined;

    /** The recorded rejections, each with its reason and the claimed entity or namespace. */
    const rejections = async () =>
      (await api.ledger({ actor: 'agent', key: `default/${ATTACKER}` })).map(({ event, details }) => [
        event,
        at(details, 'reason'),
        at(details, 'claimed'),
      ]);

    it('has its own events stored, and those of others if the policy allows it', async () => {
      await send('event', checkEvent(VICTIM, 'foreign', { status: 2 }));
      await send('event', checkEvent(ATTACKER, 'foreign', { proxy_entity_name: PROXY, status: 2 }));
      await send('event', checkEvent(UNKNOWN, 'foreign', { status: 2 }));
      expect(await isStored(ATTACKER, 'own')).to.equal(true);
      expect({
        victim: await isStored(VICTIM),
        proxy: await isStored(PROXY),
        unknown: await isStored(UNKNOWN),
      }).to.deep.equal(STORED[policy]);
      const claimed = policy === 'any' ? [] : [['write.refused', 'entity', VICTIM]];
      expect(await rejections()).to.deep.equal(claimed);
    });

    /** Each place alone names a namespace. */
    const places: [what: string, changes: (check: string, namespace: string) => Json][] = [
      ['entity', (_, namespace) => ({ entity: agentEntity(ATTACKER, { metadata: { name: ATTACKER, namespace } }) })],
      ['check', (check, namespace) => ({ check: { metadata: { name: check, namespace }, interval: 10 } })],
      ['event', (_, namespace) => ({ metadata: { namespace } })],
    ];
    for (const [what, changes] of places) {
      it(`writes nothing if the ${what} alone names another namespace`, async () => {
        const named = (check: string, namespace: string): Json =>
          checkEvent(ATTACKER, check, {}, changes(check, namespace));
        await send('event', named(`own-${what}`, 'default'));
        await send('event', named(`foreign-${what}`, OTHER_NAMESPACE));
        expect(await isStored(ATTACKER, `own-${what}`)).to.equal(true);
        expect(await isStored(ATTACKER, `foreign-${what}`)).to.equal(false);
        expect(await api.event(ATTACKER, `foreign-${what}`, OTHER_NAMESPACE)).to.equal(undefined);
      });
    }

    it('writes nothing into another namespace and no keepalive of another agent, and both attempts are recorded', async () => {
      const elsewhere = JSON.parse(
        JSON.stringify(checkEvent(ATTACKER, 'foreign')).replaceAll('"default"', `"${OTHER_NAMESPACE}"`),
      ) as Json;
      const seenBefore = at(await api.event(VICTIM, 'keepalive'), 'check', 'occurrences');
      await send('event', elsewhere);
      await send('keepalive', keepalive(VICTIM, { timestamp: backend.nowS }));
      expect(await api.event(ATTACKER, 'foreign', OTHER_NAMESPACE)).to.equal(undefined);
      expect(at(await api.event(VICTIM, 'keepalive'), 'check', 'occurrences')).to.equal(seenBefore);
      expect(attacker.socket.isOpen).to.equal(true);
      expect((await rejections()).slice(-2)).to.deep.equal([
        ['write.refused', 'namespace', OTHER_NAMESPACE],
        ['write.refused', 'keepalive', VICTIM],
      ]);
    });
  });
}

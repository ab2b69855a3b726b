import { expect } from 'chai';
import { parseEvent } from '../../../src/resources/event.ts';
import { encodeFrame } from '../../../src/wire/frame.ts';
import { encodeEvent } from '../../../src/wire/protobuf-codec.ts';
import { MEDIA_TYPE_PROTOBUF } from '../../../src/wire/codec.ts';
import { eventually } from '../../support/eventually.ts';
import { agentEntity, checkEvent } from '../../support/example-events.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';

/** Field 2047 of the event, which is unknown: it is preserved where bytes are kept. */
const UNKNOWN_FIELD = Buffer.from([0xfa, 0x7f, 0x04, 0x6b, 0x65, 0x70, 0x74]);

describe('the stored bytes of an event that arrived in protobuf', () => {
  const backend = perSuite(() => InProcessBackend.start());
  const api = perSuite(() => backend.login());
  const agent = perSuite(() => backend.connect({ name: 'bytes', headers: { Accept: MEDIA_TYPE_PROTOBUF } }));

  /** Sends the event and returns whether its bytes were stored unchanged. */
  async function isKept(event: Record<string, unknown>, entity = 'bytes'): Promise<boolean> {
    const name = String(at(event, 'check', 'metadata', 'name'));
    agent.sendRaw(encodeFrame('event', Buffer.concat([encodeEvent(parseEvent(event)), UNKNOWN_FIELD])));
    const key = `default/${entity}/${name}`;
    const record = await eventually(() => backend.store.get('events', key), Boolean, { what: `the event ${key}` });
    return record?.encoded?.includes(UNKNOWN_FIELD) ?? false;
  }

  it('are those that the agent sent', async () => {
    expect(await isKept(checkEvent('bytes', 'as-sent', { output: 'all of it', ttl: 60 }))).to.equal(true);
    expect(await api.event('bytes', 'as-sent')).to.have.nested.include({
      'check.output': 'all of it',
      'check.state': 'passing',
      'check.occurrences': 1,
    });
  });

  it('never contain what the agent sent in the fields that the backend owns', async () => {
    const claims = {
      occurrences: 9,
      occurrences_watermark: 9,
      state: 'flapping',
      silenced: ['a:b'],
      is_silenced: true,
    };
    expect(await isKept(checkEvent('bytes', 'claims', { ...claims, total_state_change: 50, last_ok: 5 }))).to.equal(
      true,
    );
    const check = at(await api.event('bytes', 'claims'), 'check');
    expect(check).to.include({ state: 'passing', is_silenced: false, total_state_change: 0 });
    expect(check).not.to.have.property('silenced');
  });

  const changed: Record<string, Record<string, unknown>> = {
    'has no time': checkEvent('bytes', 'no-time', {}, { timestamp: 0 }),
    'lacks the own subscription': checkEvent(
      'bytes',
      'no-subscription',
      {},
      { entity: agentEntity('bytes', { subscriptions: ['db'] }) },
    ),
    'has a long output': checkEvent('bytes', 'long', { output: 'VERYLONG!', max_output_size: 4 }),
    'carries metrics': checkEvent(
      'bytes',
      'metrics',
      {},
      { metrics: { handlers: [], points: [{ name: 'a', value: 1 }] } },
    ),
  };

  for (const [why, event] of Object.entries(changed)) {
    it(`are encoded again if it ${why}`, async () => {
      expect(await isKept(event)).to.equal(false);
    });
  }

  it('are encoded again if it has a proxy entity', async () => {
    expect(await isKept(checkEvent('bytes', 'of-proxy', { proxy_entity_name: 'switch-1' }), 'switch-1')).to.equal(
      false,
    );
  });
});

import { expect } from 'chai';
import fc from 'fast-check';
import {
  assertEntity,
  configOf,
  joinEntity,
  parseEntityConfig,
  parseEntityShape,
  stateOf,
  withOwnSubscription,
} from '../../src/resources/entity.ts';
import { validationErrorOf } from '../support/validation-error.ts';

const parsed = (fields: object) => parseEntityShape({ entity_class: 'proxy', ...fields });

describe('an entity', () => {
  const refused: [string, object, string][] = [
    ['without a name', { metadata: { namespace: 'default' } }, 'entity name must not be empty'],
    [
      'with a space in its name',
      { metadata: { name: 'a b', namespace: 'default' } },
      'entity name cannot contain spaces or special characters',
    ],
    ['with the name ..', { metadata: { name: '..', namespace: 'default' } }, 'entity name must not be "." or ".."'],
    [
      'without a class',
      { metadata: { name: 'sw1', namespace: 'default' }, entity_class: '' },
      'entity class must not be empty',
    ],
    ['without a namespace', { metadata: { name: 'sw1' } }, 'namespace must be set'],
  ];
  for (const [what, fields, message] of refused) {
    it(`is rejected ${what}: ${message}`, () => {
      expect(validationErrorOf(() => assertEntity(parsed(fields)))).to.equal(message);
    });
  }

  it('is rendered as clients expect', () => {
    const entity = parsed({ subscriptions: ['net'], metadata: { name: 'sw1', namespace: 'default' } });
    expect(JSON.stringify(entity)).to.equal(
      '{"entity_class":"proxy","system":{"network":{"interfaces":null},"libc_type":"","vm_system":"","vm_role":"",' +
        '"cloud_provider":"","processes":null},"subscriptions":["net"],"last_seen":0,"deregister":false,' +
        '"deregistration":{},"metadata":{"name":"sw1","namespace":"default"},"sensu_agent_version":""}',
    );
  });

  it('equals its configuration joined with its state', () => {
    const fields = fc.record(
      {
        entity_class: fc.string(),
        subscriptions: fc.array(fc.string()),
        last_seen: fc.integer(),
        deregister: fc.boolean(),
        deregistration: fc.record({ handler: fc.string() }),
        user: fc.string(),
        redact: fc.array(fc.string()),
        keepalive_handlers: fc.array(fc.string()),
        sensu_agent_version: fc.string(),
        system: fc.record({ hostname: fc.string(), arm_version: fc.integer() }),
        metadata: fc.record({ name: fc.string(), labels: fc.dictionary(fc.string(), fc.string()) }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fields, (sent) => {
        const entity = parseEntityShape(sent);
        expect(joinEntity(configOf(entity), stateOf(entity))).to.deep.equal(entity);
      }),
    );
  });

  it('gets its own subscription once', () => {
    const entity = parsed({ subscriptions: ['net'], metadata: { name: 'sw1' } });
    const held = withOwnSubscription(entity);
    expect(held.subscriptions).to.deep.equal(['net', 'entity:sw1']);
    expect(withOwnSubscription(held)).to.equal(held);
    expect(entity.subscriptions).to.deep.equal(['net']);
  });

  it('gets its own subscription when it has none', () => {
    expect(withOwnSubscription(parsed({ metadata: { name: 'sw1' } })).subscriptions).to.deep.equal(['entity:sw1']);
  });

  it('is sent to its agent as its configuration, without its state', () => {
    const config = parseEntityConfig({ metadata: { name: 'sw1' }, last_seen: 5, system: { hostname: 'sw1' } });
    expect(JSON.stringify(config)).to.equal(
      '{"metadata":{"name":"sw1"},"entity_class":"","subscriptions":null,"deregister":false,"deregistration":{}}',
    );
  });
});

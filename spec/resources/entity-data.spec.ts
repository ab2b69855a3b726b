import { expect } from 'chai';
import { configOf, entityWithDefaults } from '../../src/resources/entity.ts';
import { entityVariable } from '../../src/resources/entity-data.ts';

describe('the entity that an expression of a proxy request sees', () => {
  it('has every map and list, even when they are empty', () => {
    const config = configOf(entityWithDefaults({ entity_class: 'proxy', metadata: { name: 'sw1', namespace: 'dev' } }));
    const metadata = { name: 'sw1', namespace: 'dev', labels: {}, annotations: {}, created_by: '' };
    expect(entityVariable(config)).to.deep.equal({
      ...metadata,
      entity_class: 'proxy',
      user: '',
      subscriptions: [],
      deregister: false,
      deregistration: { handler: '' },
      keepalive_handlers: [],
      redact: [],
      metadata,
    });
  });
});

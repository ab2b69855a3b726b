import { expect } from 'chai';
import { assertEntity, configOf, entityWithDefaults } from '../../../src/resources/entity.ts';
import { pushedConfig } from '../../../src/sessions/connection/entity-config.ts';

const numbered = (count: number): string[] => Array.from({ length: count }, (_, n) => `n${n}`);

describe('the configuration that is sent to an agent', () => {
  it('has what its keepalives may have, also when the entity was stored before the bounds', () => {
    const labels = Object.fromEntries(numbered(1_500).map((key) => [key, '']));
    const stored = entityWithDefaults({
      entity_class: 'agent',
      metadata: { name: 'web-01', namespace: 'default', labels },
      subscriptions: numbered(1_500),
      keepalive_handlers: numbered(1_500),
    });
    const pushed = pushedConfig(configOf(stored));
    assertEntity(pushed);
    expect(pushed.subscriptions).to.deep.equal(numbered(1_000));
    expect(pushed.keepalive_handlers).to.deep.equal(numbered(1_000));
    expect(Object.keys(pushed.metadata.labels ?? {})).to.deep.equal(numbered(1_000));
  });

  it('is the stored one as an agent otherwise', () => {
    const stored = configOf(entityWithDefaults({ entity_class: 'proxy', metadata: { name: 'web-01' } }));
    expect(pushedConfig(stored)).to.deep.equal({ ...stored, entity_class: 'agent' });
  });
});

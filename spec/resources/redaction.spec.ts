import { expect } from 'chai';
import { redactEntity } from '../../src/resources/redaction.ts';
import { entityWithDefaults } from '../../src/resources/entity.ts';

const shownLabels = (labels: Record<string, string>, redact?: string[]): unknown =>
  redactEntity(entityWithDefaults({ metadata: { labels }, redact: redact ?? null })).metadata.labels;

describe('redaction of an entity', () => {
  it('hides the default keys however they are written', () => {
    const labels = { 'API-Key': 'x', apiKey: 'x', api_key2: 'x', Password: 'x', password1: 'seen', region: 'seen' };
    expect(shownLabels(labels)).to.deep.equal({
      'API-Key': 'REDACTED',
      apiKey: 'REDACTED',
      api_key2: 'REDACTED',
      Password: 'REDACTED',
      password1: 'seen',
      region: 'seen',
    });
  });

  it('hides what the entity names instead of the defaults', () => {
    expect(shownLabels({ password: 'seen', pin: 'x' }, ['PIN'])).to.deep.equal({ password: 'seen', pin: 'REDACTED' });
  });

  it('hides annotations too and changes nothing in place', () => {
    const entity = entityWithDefaults({ metadata: { annotations: { secret: 'x' } } });
    expect(redactEntity(entity).metadata.annotations).to.deep.equal({ secret: 'REDACTED' });
    expect(entity.metadata.annotations).to.deep.equal({ secret: 'x' });
  });
});

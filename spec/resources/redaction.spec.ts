import { expect } from 'chai';
import { DEFAULT_REDACT, redactEntity, redactEvent } from '../../src/resources/redaction.ts';
import { entityWithDefaults } from '../../src/resources/entity.ts';
import { eventWithDefaults } from '../../src/resources/event.ts';

const shownLabels = (labels: Record<string, string>, redact?: string[]): unknown =>
  redactEntity(entityWithDefaults({ metadata: { labels }, redact: redact ?? null })).metadata.labels;

describe('redaction', () => {
  it('hides values of the default keys, however the keys are written', () => {
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

  it('hides values of the keys that the entity names instead of the default ones', () => {
    expect(shownLabels({ password: 'seen', pin: 'x' }, ['PIN'])).to.deep.equal({ password: 'seen', pin: 'REDACTED' });
  });

  it('uses exactly the keys of the list, even when one of them differs from the default list', () => {
    const labels = { password: 'x', secret: 'x', pin: 'x' };
    expect(shownLabels(labels, [...DEFAULT_REDACT])).to.deep.equal({
      password: 'REDACTED',
      secret: 'REDACTED',
      pin: 'x',
    });
    expect(shownLabels(labels, [...DEFAULT_REDACT.slice(0, -1), 'pin'])).to.deep.equal({
      password: 'REDACTED',
      secret: 'x',
      pin: 'REDACTED',
    });
    expect(shownLabels(labels, DEFAULT_REDACT.slice(0, -1))).to.deep.equal({
      password: 'REDACTED',
      secret: 'x',
      pin: 'x',
    });
  });

  it('hides annotations too, without changing the entity itself', () => {
    const entity = entityWithDefaults({ metadata: { annotations: { secret: 'x' } } });
    expect(redactEntity(entity).metadata.annotations).to.deep.equal({ secret: 'REDACTED' });
    expect(entity.metadata.annotations).to.deep.equal({ secret: 'x' });
  });

  it('distinguishes letters of any alphabet', () => {
    expect(shownLabels({ Пароль: 'x', Город: 'seen', 'パス-ワード1': 'x' }, ['пароль', 'パスワード'])).to.deep.equal({
      Пароль: 'REDACTED',
      Город: 'seen',
      'パス-ワード1': 'REDACTED',
    });
  });

  it('returns an entity without secrets, and its event, unchanged', () => {
    const entity = entityWithDefaults({ metadata: { labels: { region: 'eu' } } });
    const event = { ...eventWithDefaults({}), entity };
    expect(redactEntity(entity)).to.equal(entity);
    expect(redactEvent(event)).to.equal(event);
    expect(redactEvent(eventWithDefaults({})).entity).to.equal(undefined);
  });

  it('hides the secrets of the entity of an event', () => {
    const entity = entityWithDefaults({ metadata: { labels: { password: 'x' } } });
    expect(redactEvent({ ...eventWithDefaults({}), entity }).entity.metadata.labels).to.deep.equal({
      password: 'REDACTED',
    });
  });
});

import { expect } from 'chai';
import { assertCheck, parseCheckShape } from '../../src/resources/check.ts';
import { assertEntity, parseEntityShape } from '../../src/resources/entity.ts';
import { parseEvent } from '../../src/resources/event.ts';
import { validationErrorOf } from '../support/validation-error.ts';

const META = { name: 'a', namespace: 'default' };
const names = (count: number): string[] => Array.from({ length: count }, (_, n) => `n${n}`);
const many = (item: object, count: number): object[] => Array.from({ length: count }, () => item);

const OF_CHECK: Record<string, (count: number) => unknown[]> = {
  subscriptions: names,
  runtime_assets: names,
  check_hooks: (count) => many({ ok: ['h'] }, count),
  env_vars: (count) => names(count).map((name) => `${name}=1`),
  pipelines: (count) => many({ name: 'p' }, count),
  subdues: (count) => many({ begin: '2026-01-01T00:00:00Z', end: '2026-01-01T01:00:00Z' }, count),
  output_metric_handlers: names,
  output_metric_tags: (count) => many({ name: 'n', value: 'v' }, count),
  output_metric_thresholds: (count) => many({ name: 'm', thresholds: [{ min: '1' }] }, count),
  secrets: (count) => many({ name: 'S', secret: 's' }, count),
};

const checkError = (field: string, items: unknown[]): string | undefined =>
  validationErrorOf(() => assertCheck(parseCheckShape({ metadata: META, interval: 60, [field]: items })));
const entityError = (field: string, items: unknown[]): string | undefined =>
  validationErrorOf(() => assertEntity(parseEntityShape({ metadata: META, entity_class: 'agent', [field]: items })));
const eventError = (check: object, more: object = {}): string | undefined =>
  validationErrorOf(() =>
    parseEvent({ entity: { entity_class: 'agent', metadata: META }, check: { metadata: META, ...check }, ...more }),
  );

describe('a list of a resource', () => {
  for (const [field, items] of Object.entries(OF_CHECK)) {
    it(`has at most 1000 items as ${field} of a check and of the check of an event`, () => {
      const message = `${field} must have at most 1000 items`;
      expect(checkError(field, items(1_000))).to.equal(undefined);
      expect(checkError(field, items(1_001))).to.equal(message);
      expect(eventError({ [field]: items(1_001) })).to.equal(`check is invalid: ${message}`);
    });
  }

  for (const field of ['subscriptions', 'redact', 'keepalive_handlers']) {
    it(`has at most 1000 items as ${field} of an entity`, () => {
      expect(entityError(field, names(1_000))).to.equal(undefined);
      expect(entityError(field, names(1_001))).to.equal(`${field} must have at most 1000 items`);
    });
  }

  it('has at most 1000 items as hooks or pipelines of an event', () => {
    const hooks = many({ metadata: { name: 'ps' } }, 1_001);
    expect(eventError({ hooks })).to.equal('check is invalid: hooks must have at most 1000 items');
    const pipelines = many({ name: 'p', type: 'Pipeline', api_version: 'core/v2' }, 1_001);
    expect(eventError({}, { pipelines })).to.equal('pipelines must have at most 1000 items');
  });

  it('has more items where an agent reports what it found on its host', () => {
    const system = { processes: many({ name: 'p' }, 5_000), network: { interfaces: many({ name: 'eth' }, 5_000) } };
    expect(eventError({}, { entity: { entity_class: 'agent', metadata: META, system } })).to.equal(undefined);
  });
});

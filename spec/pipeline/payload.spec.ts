import { expect } from 'chai';
import { payloadOf } from '../../src/pipeline/payload.ts';
import { parseEvent } from '../../src/resources/event.ts';

const ENTITY = {
  entity_class: 'agent',
  metadata: { name: 'web-01', namespace: 'default', labels: { password: 'hunter2', site: 'fra' } },
};
const EVENT = parseEvent({
  entity: ENTITY,
  check: { metadata: { name: 'disk', namespace: 'default' }, interval: 60, output: 'full\n' },
});
const none = (): boolean => false;
const METRICS = parseEvent({ entity: ENTITY, metrics: { handlers: ['influx'], points: [] } });

describe('the input of a handler', () => {
  for (const mutator of [undefined, 'json']) {
    it(`is its JSON with secrets redacted: mutator ${mutator}`, () => {
      const { text } = payloadOf(EVENT, mutator, none) as { text: string };
      const given = JSON.parse(text) as typeof EVENT;
      expect(given.entity?.metadata.labels).to.deep.equal({ password: 'REDACTED', site: 'fra' });
      expect(given.check?.output).to.equal('full\n');
    });
  }

  it('is the output alone with only_check_output', () => {
    expect(payloadOf(EVENT, 'only_check_output', none)).to.deep.equal({ text: 'full\n' });
  });

  it('fails for an event without a check with only_check_output', () => {
    const failure = 'event requires a check for the only_check_output mutator to work';
    expect(payloadOf(METRICS, 'only_check_output', none)).to.deep.equal({ failure });
  });

  for (const mutator of ['nope', 'constructor']) {
    it(`fails with an unknown mutator: ${mutator}`, () => {
      expect(payloadOf(EVENT, mutator, none)).to.deep.equal({ failure: `mutator "${mutator}" does not exist` });
    });
  }

  it('fails with a stored mutator, which cannot run yet', () => {
    const failure = 'mutator "mine" cannot run yet, only the built-in mutators json and only_check_output can';
    expect(payloadOf(EVENT, 'mine', (name) => name === 'mine')).to.deep.equal({ failure });
  });
});

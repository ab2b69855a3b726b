import { expect } from 'chai';
import { payloadOf } from '../../src/pipeline/payload.ts';
import { parseEvent } from '../../src/resources/event.ts';
import { TickBudget } from '../../src/store/tick-budget.ts';

const ENTITY = {
  entity_class: 'agent',
  metadata: { name: 'web-01', namespace: 'default', labels: { password: 'hunter2', site: 'fra' } },
};
const EVENT = parseEvent({
  entity: ENTITY,
  check: { metadata: { name: 'disk', namespace: 'default' }, interval: 60, output: 'full\n' },
});
const none = { isStored: (): boolean => false };
const METRICS = parseEvent({ entity: ENTITY, metrics: { handlers: ['influx'], points: [] } });

describe('the input of a handler', () => {
  for (const mutator of [undefined, 'json']) {
    it(`is its JSON with secrets redacted: mutator ${mutator}`, async () => {
      const { input } = (await payloadOf(EVENT, mutator, none)) as { input: Buffer };
      const given = JSON.parse(input.toString()) as typeof EVENT;
      expect(given.entity?.metadata.labels).to.deep.equal({ password: 'REDACTED', site: 'fra' });
      expect(given.check?.output).to.equal('full\n');
    });
  }

  it('is the output alone with only_check_output', async () => {
    expect(await payloadOf(EVENT, 'only_check_output', none)).to.deep.equal({ input: 'full\n' });
  });

  it('fails for an event without a check with only_check_output', async () => {
    const failure = 'event requires a check for the only_check_output mutator to work';
    expect(await payloadOf(METRICS, 'only_check_output', none)).to.deep.equal({ failure });
  });

  for (const mutator of ['nope', 'constructor']) {
    it(`fails with an unknown mutator: ${mutator}`, async () => {
      expect(await payloadOf(EVENT, mutator, none)).to.deep.equal({ failure: `mutator "${mutator}" does not exist` });
    });
  }

  it('fails with a stored mutator, which cannot run yet', async () => {
    const failure = 'mutator "mine" cannot run yet, only the built-in mutators json and only_check_output can';
    expect(await payloadOf(EVENT, 'mine', { isStored: (name) => name === 'mine' })).to.deep.equal({ failure });
  });

  it('is encoded in several ticks when it is long', async () => {
    const output = '\u0001'.repeat(2_000_000);
    const event = parseEvent({ entity: ENTITY, check: { metadata: { name: 'disk' }, interval: 60, output } });
    let ticks = 0;
    const budget = new TickBudget(() => Promise.resolve((ticks += 1)));
    const { input } = (await payloadOf(event, 'json', { ...none, budget })) as { input: Buffer };
    expect((JSON.parse(input.toString()) as typeof event).check?.output).to.equal(output);
    expect(ticks).to.equal(2);
  });
});

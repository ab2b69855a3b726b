import { expect } from 'chai';
import { OutcomeLog } from '../../src/pipeline/outcome-log.ts';
import { parseEvent } from '../../src/resources/event.ts';
import type { OutboxEntry, Outcome } from '../../src/store/records/records.ts';
import { checkEvent } from '../support/example-events.ts';
import { RecordedLog } from '../support/recorded-log.ts';

const ENTRY: OutboxEntry = {
  notificationId: 'n',
  namespace: 'default',
  handler: 'mail',
  key: 'default/web-1/disk',
  event: { ...parseEvent(checkEvent('web-1', 'disk')), id: 'e' },
  decidedAtMs: 0,
};

describe('the log of outcomes', () => {
  let log: RecordedLog;
  let outcomes: OutcomeLog;

  beforeEach(() => {
    log = new RecordedLog();
    outcomes = new OutcomeLog(log);
  });

  const note = (outcome: Outcome, atMs: number, changes: Partial<OutboxEntry> = {}): void => {
    outcomes.note({ ...ENTRY, ...changes }, { outcome, reason: 'exit status 2', status: 2 }, atMs);
  };
  const warnings = () => log.lines.filter(({ level }) => level === 'warn');

  for (const outcome of ['failed', 'timed-out', 'skipped'] as const) {
    it(`warns of a handler that has ${outcome}, with what it is about`, () => {
      note(outcome, 0);
      const fields = { namespace: 'default', entity: 'web-1', check: 'disk', handler: 'mail', event_id: 'e' };
      expect(warnings().map(({ msg }) => msg)).to.deep.equal(['event was not handled']);
      expect(warnings()[0]?.fields).to.deep.include({ ...fields, outcome, reason: 'exit status 2', events: 1 });
    });
  }

  it('warns once a minute for each handler and outcome, with the number of events', () => {
    for (const atMs of [0, 1_000, 59_999]) note('failed', atMs);
    note('timed-out', 1_000);
    note('failed', 1_000, { handler: 'page' });
    note('failed', 60_000);
    expect(warnings().map(({ fields }) => [fields['handler'], fields['outcome'], fields['events']])).to.deep.equal([
      ['mail', 'failed', 1],
      ['mail', 'timed-out', 1],
      ['page', 'failed', 1],
      ['mail', 'failed', 3],
    ]);
  });

  it('does not warn of handlers that ran, and of events that a filter denied', () => {
    note('handled', 0);
    note('denied', 0);
    expect(warnings()).to.deep.equal([]);
  });
});

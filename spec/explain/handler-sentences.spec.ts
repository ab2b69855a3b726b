import { expect } from 'chai';
import type { Explanation } from '../../src/explain/explanation.ts';
import { handlerSentences } from '../../src/explain/handler-sentences.ts';
import type { Notification } from '../../src/store/records/records.ts';

const AT_MS = 1_700_000_000_000;
const SKIPPED: Notification = {
  id: '6a1b2c3d-0000-4000-8000-000000000001',
  handler: '',
  pipeline: 'ops',
  workflow: undefined,
  eventId: undefined,
  outcome: 'skipped',
  reason: 'pipeline has no workflows',
  status: undefined,
  attempts: undefined,
  decidedAtMs: AT_MS,
  atMs: AT_MS,
  durationMs: 0,
  isDeadLetter: undefined,
};

const sentences = (...notifications: Notification[]): string[] =>
  handlerSentences({
    atMs: AT_MS,
    state: { kind: 'recorded' },
    silences: { items: [], hasMore: false },
    handlers: { items: notifications.map((notification) => ({ notification, isLater: false })), hasMore: false },
  } as unknown as Explanation);

describe('the sentences about handlers', () => {
  it('name the pipeline that led to no handler', () => {
    expect(sentences(SKIPPED)).to.deep.equal([
      'The pipeline `ops` led to no handler at 2023-11-14T22:13:20Z: pipeline has no workflows.',
    ]);
  });

  it('name the requested handler when it has no outcome, and say whether it exists', () => {
    const sentence = (exists: boolean): string[] =>
      handlerSentences({
        state: { kind: 'recorded' },
        asked: { handler: 'nope', exists },
        silences: { items: [], hasMore: false },
        handlers: { items: [], hasMore: false },
      } as unknown as Explanation);
    expect(sentence(true)).to.deep.equal(['No outcome of the handler `nope` was recorded by that time.']);
    expect(sentence(false)).to.deep.equal([
      'No outcome of the handler `nope` was recorded by that time; the namespace has no handler of this name.',
    ]);
  });

  it('distinguish two workflows of one name', () => {
    const skipped = { ...SKIPPED, handler: 'mail', workflow: 'w', reason: 'no' };
    const both = [skipped, { ...skipped, nth: 2 }];
    expect(sentences(...both)).to.deep.equal([
      'Handler `mail` of the workflow `w` of the pipeline `ops` was not run at 2023-11-14T22:13:20Z: no.',
      'Handler `mail` of the workflow `w` (number 2 of this name) of the pipeline `ops` was not run at 2023-11-14T22:13:20Z: no.',
    ]);
  });

  it('name the handlers that were left out together, up to ten of them', () => {
    const others = Array.from({ length: 12 }, (_, n) => `h${n}`);
    const skipped = { ...SKIPPED, handler: 'mail', pipeline: undefined, reason: 'too many' };
    expect(sentences({ ...skipped, others: ['page'] })).to.deep.equal([
      'Handler `mail` and 1 other (`page`) were not run at 2023-11-14T22:13:20Z: too many.',
    ]);
    expect(sentences({ ...skipped, others })[0]).to.match(
      /^Handler `mail` and 12 others \(`h0`, .*`h9`, …\) were not run/,
    );
  });

  it('name the handler of a workflow that was not run', () => {
    const skipped = { ...SKIPPED, handler: 'mail', workflow: 'w', reason: 'handler does not exist' };
    expect(sentences(skipped)).to.deep.equal([
      'Handler `mail` of the workflow `w` of the pipeline `ops` was not run at 2023-11-14T22:13:20Z: ' +
        'handler does not exist.',
    ]);
  });
});

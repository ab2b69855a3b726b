import { expect } from 'chai';
import fc from 'fast-check';
import { MessageQueue } from '../../../src/sessions/pacing/message-queue.ts';

describe('the waiting messages of a connection', () => {
  it('leave in the order in which they came, whatever their lengths, with their own bytes', () => {
    const length = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 4_000, max: 20_000 }));
    const steps = fc.array(fc.oneof(length, fc.constant('shift' as const)), { maxLength: 200 });
    fc.assert(
      fc.property(steps, (taken) => {
        const queue = new MessageQueue();
        const model: Buffer[] = [];
        const kept: [is: Buffer | undefined, was: string | undefined][] = [];
        for (const [index, step] of taken.entries()) {
          if (step === 'shift') kept.push([queue.shift(), model.shift()?.toString('latin1')]);
          else {
            const message = Buffer.alloc(step, index);
            queue.push(message);
            model.push(message);
          }
          expect(queue.isEmpty).to.equal(model.length === 0);
        }
        // Compared at the end, because a message that was taken must not change when others follow.
        for (const [is, was] of kept) expect(is?.toString('latin1')).to.equal(was);
      }),
    );
  });
});

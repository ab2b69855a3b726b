import { expect } from 'chai';
import { type ActorFailure, FailureQueue } from '../../../src/actors/core/failure-queue.ts';

const failureOf = (key: string): ActorFailure => ({ kind: 'entity', key, cause: new Error(key) });

const CAUSE = { session: 'one' };

describe('the queue of actor failures', () => {
  let queue: FailureQueue;
  let handled: string[];

  beforeEach(() => {
    queue = new FailureQueue();
    handled = [];
  });

  it('keeps failures until there is a handler', () => {
    queue.add(failureOf('a'));
    queue.handleAll(CAUSE);
    queue.handleWith(({ key }) => handled.push(key));
    queue.handleAll(CAUSE);
    expect(handled).to.deep.equal(['a']);
  });

  it('passes each failure on once, in the order of arrival', () => {
    queue.handleWith(({ key }) => handled.push(key));
    queue.add(failureOf('a'));
    queue.add(failureOf('b'));
    queue.handleAll(CAUSE);
    queue.handleAll(CAUSE);
    expect(handled).to.deep.equal(['a', 'b']);
  });

  it('handles a failure caused by the handling of another after that one, not inside it', () => {
    let depth = 0;
    queue.handleWith(({ key }) => {
      depth += 1;
      expect(depth).to.equal(1);
      if (key === 'a') queue.add(failureOf('b'));
      queue.handleAll(CAUSE);
      handled.push(key);
      depth -= 1;
    });
    queue.add(failureOf('a'));
    queue.handleAll(CAUSE);
    expect(handled).to.deep.equal(['a', 'b']);
  });

  it('continues with the next failure when a handler has thrown', () => {
    queue.handleWith(({ key }) => {
      if (key === 'a') throw new Error('the handler is broken');
      handled.push(key);
    });
    queue.add(failureOf('a'));
    queue.add(failureOf('b'));
    expect(() => {
      queue.handleAll(CAUSE);
    }).to.throw('the handler is broken');
    queue.handleAll(CAUSE);
    expect(handled).to.deep.equal(['b']);
  });
});

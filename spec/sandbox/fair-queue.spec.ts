import { expect } from 'chai';
import { FairQueue, type TaskOwner } from '../../src/sandbox/fair-queue.ts';

interface Task {
  owner: TaskOwner;
  id: string;
}

const task = (id: string): Task => {
  const [namespace = '', name = ''] = id.split('/');
  return { owner: { namespace, name }, id };
};

describe('the queue of tasks', () => {
  let queue: FairQueue<Task>;

  beforeEach(() => {
    queue = new FairQueue();
  });

  const add = (...ids: string[]): void => {
    for (const id of ids) queue.add(task(id));
  };
  const take = (count: number, mayRun = (_task: Task): boolean => true): (string | undefined)[] =>
    Array.from({ length: count }, () => queue.next(mayRun)?.id);

  it('serves namespaces, and the names in each, round robin', () => {
    add('a/x/1', 'a/x/2', 'a/x/3', 'a/y/1', 'b/z/1', 'b/z/2');
    expect(take(7)).to.deep.equal(['a/x/1', 'b/z/1', 'a/y/1', 'b/z/2', 'a/x/2', 'a/x/3', undefined]);
    expect(queue.size).to.equal(0);
  });

  it('takes the task of a new namespace after one more task of another namespace, however many of these wait', () => {
    add('a/x/1', 'a/x/2', 'a/x/3');
    take(1);
    add('b/x/1');
    expect(take(3)).to.deep.equal(['a/x/2', 'b/x/1', 'a/x/3']);
  });

  it('takes a task that has begun before the others of its name', () => {
    add('a/x/1', 'a/y/1');
    const begun = task('a/x/0');
    queue.addFirst(begun);
    expect(take(3)).to.deep.equal(['a/x/0', 'a/y/1', 'a/x/1']);
  });

  it('leaves out namespaces that must not run', () => {
    add('a/x/1', 'b/x/1');
    expect(take(2, ({ owner }) => owner.namespace !== 'a')).to.deep.equal(['b/x/1', undefined]);
    expect(take(1)).to.deep.equal(['a/x/1']);
  });

  it('displaces the newest task of the largest namespace only for one with fewer tasks', () => {
    add('a/x/1', 'a/x/2', 'a/y/1', 'b/x/1');
    expect(queue.displace('a')).to.equal(undefined);
    expect(queue.displace('c')?.id).to.equal('a/y/1');
    expect(queue.displace('b')).to.equal(undefined);
    expect(queue.displace('c')?.id).to.equal('a/x/2');
    expect(queue.displace('c')).to.equal(undefined);
    expect(queue.size).to.equal(2);
    expect(queue.drain().map(({ id }) => id)).to.deep.equal(['a/x/1', 'b/x/1']);
    expect(take(1)).to.deep.equal([undefined]);
  });
});

import { expect } from 'chai';
import { deniedStatus } from '../../../src/agent/execution/command-runner.ts';

const NAME = 'allow_list_on_deny_status';

describe('the status of a denied command', () => {
  for (const [text, status] of [
    ['0', 0],
    ['2', 2],
    ['255', 255],
    ['256', 3],
    ['-1', 3],
    ['x', 3],
  ] as const) {
    it(`is ${status} when the annotation is ${text} and the largest status is 255`, () => {
      expect(deniedStatus({ [NAME]: text }, 255)).to.equal(status);
    });
  }

  it('is 3 without the annotation', () => {
    expect(deniedStatus(undefined, 255)).to.equal(3);
  });
});

import { expect } from 'chai';
import { shownOutput } from '../../../src/pipeline/handlers/shown-output.ts';

describe('the output of a command that is shown', () => {
  it('has none of the values of its secrets', () => {
    const secrets = ['A=hunter2', 'B=hunter2-long', 'C=$&xy\n', 'D=abc'];
    expect(shownOutput('hunter2 hunter2-long $&xy abc', secrets, 100)).to.equal('REDACTED REDACTED REDACTED abc');
  });

  it('ends at its limit, without a part of a secret', () => {
    expect(shownOutput('0123456 hunter2', ['A=hunter2'], 10)).to.equal('0123456 RE');
    expect(shownOutput('0123456 hunter2', [], 10)).to.equal('0123456 hu');
  });
});

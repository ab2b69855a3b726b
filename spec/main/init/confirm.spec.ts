import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { confirm } from '../../../src/main/init/confirm.ts';

/** The result of a question with these lines as its answers, and what was asked. */
async function answered(lines: readonly string[]) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  input.end(lines.map((line) => `${line}\n`).join(''));
  const confirmed = await confirm('Go?', { input, output });
  return { confirmed, asked: String(output.read()).split('Go? [y/N]').length - 1 };
}

describe('a confirmation', () => {
  for (const answer of ['y', 'Y', 'yes', 'YES', ' yes ']) {
    it(`is given by "${answer}"`, async () => {
      expect(await answered([answer])).to.deep.equal({ confirmed: true, asked: 1 });
    });
  }

  for (const answer of ['n', 'no', 'No', '']) {
    it(`is refused by "${answer}"`, async () => {
      expect(await answered([answer, 'y'])).to.deep.equal({ confirmed: false, asked: 1 });
    });
  }

  it('is asked for again after another answer', async () => {
    expect(await answered(['maybe', 'yess', 'y'])).to.deep.equal({ confirmed: true, asked: 3 });
  });

  it('counts as refused after three other answers', async () => {
    expect(await answered(['maybe', 'later', '?', 'y'])).to.deep.equal({ confirmed: false, asked: 3 });
  });

  it('fails when the input ends', async () => {
    const error: unknown = await answered([]).catch((failure: unknown) => failure);
    expect(String(error)).to.contain('the input ended before an answer');
  });
});

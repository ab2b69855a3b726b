import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

describe('the recipes in docs/change.md', () => {
  const page = readFileSync(`${ROOT}docs/change.md`, 'utf8').replaceAll(/\s+/g, ' ');

  it('name files that there are', () => {
    const files = [...page.matchAll(/`((?:src|spec|docs)\/[\w./-]+\.(?:ts|md))`/g)].map(([, file = '']) => file);
    expect(files).to.have.length.above(15);
    expect(files.filter((file) => !existsSync(ROOT + file))).to.deep.equal([]);
  });

  it('name what is in those files', () => {
    const named = [...page.matchAll(/((?:`\w+`(?: and )?)+) (?:of|in) `(src\/[\w./-]+\.ts)`/g)].flatMap(
      ([, words = '', file = '']) => [...words.matchAll(/`(\w+)`/g)].map(([, word = '']) => ({ word, file })),
    );
    expect(named).to.have.length.above(5);
    const missing = named.filter(({ word, file }) => !readFileSync(ROOT + file, 'utf8').includes(word));
    expect(missing).to.deep.equal([]);
  });
});

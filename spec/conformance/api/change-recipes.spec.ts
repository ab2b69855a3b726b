import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const pageOf = (file: string): string => readFileSync(ROOT + file, 'utf8').replaceAll(/\s+/g, ' ');

/** Each page with the number of paths that it names at least. */
const PAGES = { 'docs/architecture.md': 40, 'docs/change.md': 50, 'docs/glossary.md': 25 };

for (const [file, least] of Object.entries(PAGES)) {
  describe(file, () => {
    const page = pageOf(file);

    it('names only files and folders that exist', () => {
      const paths = [...page.matchAll(/`((?:src|spec|docs|scripts|bench)\/[\w./-]+)`/g)].map(([, path = '']) => path);
      expect(paths).to.have.length.above(least);
      expect(paths.filter((path) => !existsSync(ROOT + path))).to.deep.equal([]);
    });

    it('names only members that exist in their files', () => {
      const named = [...page.matchAll(/((?:`\w+`(?:, | and )?)+) (?:of|in) `(src\/[\w./-]+\.ts)`/g)].flatMap(
        ([, words = '', path = '']) => [...words.matchAll(/`(\w+)`/g)].map(([, word = '']) => ({ word, path })),
      );
      const missing = named.filter(({ word, path }) => !readFileSync(ROOT + path, 'utf8').includes(word));
      expect(missing).to.deep.equal([]);
    });
  });
}

describe('the recipes in docs/change.md', () => {
  const page = readFileSync(`${ROOT}docs/change.md`, 'utf8');
  const recipes = page.split(/^## /m).slice(1);

  it('cover the common tasks', () => {
    const titles = recipes.map((recipe) => recipe.slice(0, recipe.indexOf('\n')));
    const tasks = ['resource', 'route', 'machine', 'deadline', 'type of handler', 'configuration flag', 'metric'];
    expect(titles).to.include.members(tasks.map((task) => `Add a ${task}`));
  });

  it('each list at least three files', () => {
    const short = recipes.filter((recipe) => new Set(recipe.match(/`(?:src|spec|docs)\/[^`]+`/g)).size < 3);
    expect(short).to.deep.equal([]);
  });

  it('name the members to change', () => {
    const members = [...page.matchAll(/`\w+` in `src\//g)];
    expect(members).to.have.length.above(10);
  });
});

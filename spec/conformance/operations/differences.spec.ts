import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { recordedReasons } from '../../support/recorded-reasons.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

interface Entry {
  text: string;
  /** As written in the page: an id in quotes is the beginning of a recorded reason. */
  ids: readonly string[];
  /** The advice for users who switch from the reference. */
  switching: string;
  proofs: readonly { file: string; title: string }[];
}

function documentedEntries(): Entry[] {
  const page = readFileSync(`${ROOT}docs/differences.md`, 'utf8');
  const items = page.split(/\n(?=- |\n|#)/).filter((block) => block.startsWith('- '));
  return items.map((item) => {
    const text = item.replaceAll(/\s+/g, ' ');
    const [, switching = ''] = /\*\*Switching:\*\* (.+)$/.exec(text) ?? [];
    const proofs = [...text.matchAll(/`(spec\/[^`]+\.ts)` "([^"]+)"/g)].map(([, file = '', title = '']) => ({
      file,
      title,
    }));
    return { text, ids: idsIn(text), switching, proofs };
  });
}

/** Sections, decisions and recordings in code marks, and quoted beginnings of reasons. */
const idsIn = (text: string): string[] =>
  [...text.matchAll(/`(\d\d [DA]?\d+(?:\.\d+)*|\d{4}|[a-z]+\/[a-z-]+|"[^`]+")`/g)].map(([, id = '']) => id);

const names = (documented: string, recorded: string): boolean =>
  documented.startsWith('"') ? recorded.startsWith(documented.slice(1, -1)) : recorded === documented;

describe('docs/differences.md', () => {
  const entries = documentedEntries();
  const documented = entries.flatMap(({ ids }) => ids);
  const reasons = recordedReasons();
  const recorded = [...new Set(reasons.flatMap(({ ids }) => ids))];

  it('names the reason of every recorded step that the backend answers differently', () => {
    expect(reasons).to.have.length.above(500);
    const unnamed = reasons.flatMap(({ place, ids }) =>
      ids.filter((id) => !documented.some((each) => names(each, id))).map((id) => `${place}: ${id}`),
    );
    expect(unnamed).to.deep.equal([]);
  });

  it('has no entry that neither a recording nor a test proves', () => {
    expect(entries).to.have.length.above(80);
    const unproven = entries.filter(
      ({ ids, proofs }) =>
        ids.length === 0 || (proofs.length === 0 && !ids.every((id) => recorded.some((each) => names(id, each)))),
    );
    expect(unproven.map(({ text }) => text)).to.deep.equal([]);
  });

  it('names only tests and decisions that exist', () => {
    const proofs = entries.flatMap((entry) => entry.proofs);
    const missing = proofs.filter(
      ({ file, title }) => !existsSync(ROOT + file) || !readFileSync(ROOT + file, 'utf8').includes(title),
    );
    expect(missing).to.deep.equal([]);
    const decisions = readdirSync(`${ROOT}docs/decisions`).map((file) => file.slice(0, 4));
    expect(decisions).to.include.members(documented.filter((id) => /^\d{4}$/.test(id)));
    expect(proofs).to.have.length.above(30);
  });

  it('has all decisions of the fact sheet of the REST API', () => {
    const decisions = Array.from({ length: 32 }, (_, index) => `02 D${index + 1}`);
    expect(documented).to.include.members(decisions);
  });

  it('has advice for every difference', () => {
    expect(entries.filter(({ switching }) => switching === '').map(({ text }) => text)).to.deep.equal([]);
  });
});

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { agentFlags } from '../../../src/config/flags/agent-flags.ts';
import { initFlags, upgradeFlags } from '../../../src/config/flags/command-flags.ts';
import { startFlags } from '../../../src/config/flags/start-flags.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MAX_COLUMNS = 120;
const GENERATED = 'docs/configuration.md';

type Rows = readonly (readonly string[])[];

interface Layers {
  LAYERS: Rows;
  SUB_LAYERS: Readonly<Record<string, Rows>>;
}

const pages = [
  'README.md',
  'CHANGELOG.md',
  ...readdirSync(`${ROOT}docs`, { recursive: true, encoding: 'utf8' }).map((file) => `docs/${file}`),
].filter((file) => file.endsWith('.md'));

const linesOf = (file: string): string[] => readFileSync(ROOT + file, 'utf8').split('\n');

interface Block {
  /** Line number of its first line, from 1. */
  line: number;
  text: string;
  isItem: boolean;
}

const ITEM = /^ *(?:[-+*]|\d+[.)]) /;

/** The paragraphs and list items of a page, without headings, tables and blocks of code. */
function blocksOf(file: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  let isCode = false;
  for (const [index, line] of linesOf(file).entries()) {
    if (/^ *```/.test(line)) isCode = !isCode;
    const isOther = isCode || /^ *(?:```|#|\||$)/.test(line);
    if (isOther) open = undefined;
    else if (open === undefined || ITEM.test(line)) {
      open = { line: index + 1, text: line, isItem: ITEM.test(line) };
      blocks.push(open);
    } else open.text += `\n${line}`;
  }
  return blocks;
}

/** A wrapped line that begins like a list item becomes one, and ends the paragraph before it in the middle of a sentence. */
const isCutSentence = ({ text, isItem }: Block, next: Block | undefined): boolean =>
  !isItem && next?.isItem === true && /[\p{L}\p{N},]$/u.test(text);

/** Headings in the spelling of their anchors. */
const anchorsOf = (file: string): string[] =>
  linesOf(file)
    .filter((line) => line.startsWith('#'))
    .map((line) =>
      line
        .replace(/^#+ /, '')
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    );

describe('the documentation', () => {
  it('has tables that fit a terminal of 120 columns', () => {
    const tooWide = pages.flatMap((file) =>
      linesOf(file)
        .filter((line) => line.startsWith('|') && line.length > MAX_COLUMNS)
        .map((line) => `${file}: ${line}`),
    );
    expect(tooWide).to.deep.equal([]);
  });

  it('has no list item in the middle of a sentence or of inline code', () => {
    const broken = pages.flatMap((file) => {
      const blocks = blocksOf(file);
      return blocks
        .filter((block, index) => block.text.split('`').length % 2 === 0 || isCutSentence(block, blocks[index + 1]))
        .map(({ line, text }) => `${file}:${line}: ${text}`);
    });
    expect(broken).to.deep.equal([]);
  });

  it('is wrapped at 120 columns, except the page that is generated, the decisions and the list of changes', () => {
    const guides = pages.filter((file) => /^(?:README|docs\/[^/]+)\.md$/.test(file) && file !== GENERATED);
    const tooWide = guides.flatMap((file) =>
      blocksOf(file).flatMap(({ line, text }) =>
        text
          .split('\n')
          .filter((each) => each.length > MAX_COLUMNS)
          .map((each) => `${file}:${line}: ${each}`),
      ),
    );
    expect(tooWide).to.deep.equal([]);
  });

  it('links only to files and headings that exist', () => {
    const links = pages.flatMap((file) =>
      [...readFileSync(ROOT + file, 'utf8').matchAll(/\]\(([^():\s]+)\)/g)].map(([, target = '']) => ({
        file,
        target,
      })),
    );
    expect(links).to.have.length.above(20);
    const broken = links.filter(({ file, target }) => {
      const [path = '', anchor] = target.split('#');
      const page = path === '' ? file : join(dirname(file), path);
      if (!existsSync(ROOT + page)) return true;
      return anchor !== undefined && !anchorsOf(page).includes(anchor);
    });
    expect(broken).to.deep.equal([]);
  });
});

describe('the pages about operating', () => {
  const page = ['install', 'operate', 'schedules', 'tls', 'durability', 'upgrade']
    .flatMap((name) => linesOf(`docs/${name}.md`))
    .join('\n');

  for (const [program, flags] of Object.entries({
    'mon-backend start': startFlags,
    'mon-backend init': initFlags,
    'mon-backend upgrade': upgradeFlags,
    'mon-agent start': agentFlags({ hostname: 'a-host', configFile: '', cacheDir: '', logFile: '' }),
  })) {
    it(`name every flag of ${program}`, () => {
      const unnamed = Object.keys(flags).filter((flag) => !new RegExp(`--${flag}(?![\\w-])`).test(page));
      expect(unnamed).to.deep.equal([]);
    });
  }
});

describe('a decision record', () => {
  const records = readdirSync(`${ROOT}docs/decisions`).filter((file) => file !== 'README.md');

  it('has one line in the index, with its title', () => {
    const listed = linesOf('docs/decisions/README.md').filter((line) => line.startsWith('- '));
    const titles = records.map((file) => `[${linesOf(`docs/decisions/${file}`)[0]?.slice(2)}](${file})`);
    expect(listed.map((line) => /\[.*\]\([^)]*\)/.exec(line)?.[0])).to.deep.equal(titles);
  });

  for (const file of records) {
    it(`has its number, status, date, context, decision and consequences: ${file}`, () => {
      const text = readFileSync(`${ROOT}docs/decisions/${file}`, 'utf8');
      const number = file.slice(0, 4);
      expect(text).to.match(
        new RegExp(`^# ${number} \\S.*\\n\\n(- )?Status: \\w+.*\\n+(- )?Date: \\d{4}-\\d{2}-\\d{2}\\n`),
      );
      const headings = text.match(/^## .*$/gm);
      expect(headings).to.deep.equal(['## Context', '## Decision', '## Consequences']);
    });
  }

  it('has a number that no other has', () => {
    const numbers = records.map((file) => file.slice(0, 4));
    expect(new Set(numbers).size).to.equal(records.length);
  });
});

describe('the layout in docs/architecture.md', () => {
  interface Folder {
    name: string;
    layer: number;
    sub: string[];
  }

  /** The folders of the diagram, top layer first. */
  function drawnFolders(): Folder[] {
    const [, diagram = ''] =
      /```text\nsrc\n([\s\S]*?)```/.exec(readFileSync(`${ROOT}docs/architecture.md`, 'utf8')) ?? [];
    const folders: Folder[] = [];
    for (const line of diagram.split('\n').filter((each) => each !== '')) {
      const [, layer = '', indent = '', name = ''] = /^ ?(\d| )  ( *)(\w+) +\S/.exec(line) ?? [];
      const last = folders.at(-1);
      if (indent !== '') last?.sub.push(name);
      else folders.push({ name, layer: layer.trim() === '' ? (last?.layer ?? NaN) : Number(layer), sub: [] });
    }
    return folders;
  }

  const positionIn = (rows: Rows, name: string): number => rows.findIndex((row) => row.includes(name));

  it('has the folders of scripts/layers.js in its order', async () => {
    const { LAYERS, SUB_LAYERS } = (await import(
      new URL('../../../scripts/layers.js', import.meta.url).href
    )) as Layers;
    const folders = drawnFolders();
    const drawn = folders.map(({ name, layer }) => [name, layer]);
    expect(drawn).to.have.deep.members(LAYERS.flatMap((row, index) => row.map((name) => [name, index + 1])));
    for (const { name, sub } of folders) {
      const rows = SUB_LAYERS[name] ?? [];
      expect(sub, name).to.have.members(rows.flat());
      const positions = sub.map((each) => positionIn(rows, each));
      expect(positions, name).to.deep.equal(positions.toSorted((one, other) => other - one));
    }
  });

  it('has every folder of src', () => {
    const existing = readdirSync(`${ROOT}src`, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(drawnFolders().map(({ name }) => name)).to.have.members(existing.map(({ name }) => name));
  });
});

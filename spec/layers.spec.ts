import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { perSuite } from './support/fixture.ts';
import { temporaryDirectory } from './support/temporary-directory.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Source texts by their path below `src`. */
type Sources = Readonly<Record<string, string>>;

interface Outcome {
  passes: boolean;
  output: string;
}

/** Linted together, each file of a case has the number of its case in its name, but this one, which the rules name. */
const NAMED_BY_RULES = 'rules/token-bucket.ts';
const TOKEN_BUCKET = `export const b = 1;\nexport const c = 1;\n`;

/** Runs a command of `npm run lint` in `directory`. Type-aware rules are left out: no import rule needs types. */
function run(directory: string, command: readonly string[]): Outcome {
  const [program = '', ...args] = command;
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: directory, encoding: 'utf8' });
  return { passes: status === 0, output: stdout + stderr };
}

const writeRules = (directory: string): Outcome => run(directory, [process.execPath, 'scripts/layer-rules.js']);
const lint = (directory: string, ...flags: string[]): Outcome =>
  run(directory, ['node_modules/.bin/oxlint', '--deny-warnings', ...flags, 'src']);

interface Diagnostics {
  diagnostics: { code: string; filename: string }[];
}

/** The codes of the rules that are broken in each file. */
function brokenRules(directory: string): Map<string, string[]> {
  const { passes, output } = lint(directory, '--format=json');
  expect(passes, output).to.equal(false);
  const broken = new Map<string, string[]>();
  for (const { code, filename } of (JSON.parse(output) as Diagnostics).diagnostics) {
    broken.set(filename, [...(broken.get(filename) ?? []), code]);
  }
  return broken;
}

/** The sources of a case with its number in the names of their files, so that all cases stand in one tree. */
function numbered(number: number, sources: Sources): Sources {
  const entries = Object.entries(sources).map(([path, text]): [string, string] =>
    path === NAMED_BY_RULES
      ? [path, text]
      : [path.replace('.ts', `-${number}.ts`), text.replace(/\/([abc])\.ts'/g, `/$1-${number}.ts'`)],
  );
  return Object.fromEntries(entries);
}

describe('the import rules', () => {
  const temporary = perSuite(
    () => temporaryDirectory(),
    (directory) => directory.remove(),
  );
  let trees = 0;

  /** Makes a tree of its own with the real rules and these sources. */
  function tree(sources: Sources): string {
    trees += 1;
    const directory = join(temporary.path, String(trees));
    mkdirSync(directory);
    cpSync(join(ROOT, 'scripts'), join(directory, 'scripts'), { recursive: true });
    cpSync(join(ROOT, '.oxlintrc.json'), join(directory, '.oxlintrc.json'));
    symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
    writeFileSync(join(directory, 'package.json'), '{ "type": "module" }');
    for (const [path, text] of Object.entries(sources)) add(directory, path, text);
    return directory;
  }

  function add(directory: string, path: string, text: string): void {
    const file = join(directory, 'src', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  it('accept the source tree as it is', () => {
    expect(writeRules(ROOT)).to.deep.equal({ passes: true, output: '' });
    const { passes, output } = lint(ROOT);
    expect(passes, output).to.equal(true);
  });

  const accepted: [string, Sources][] = [
    [
      'a downward import between folders',
      {
        'rules/a.ts': `import { b } from '../resources/b.ts';\nexport const a = b;\n`,
        'resources/b.ts': `export const b = 1;\n`,
      },
    ],
    [
      'a downward import between sub-folders',
      {
        'http/routes/a.ts': `import { b } from '../request/b.ts';\nexport const a = b;\n`,
        'http/request/b.ts': `export const b = 1;\n`,
      },
    ],
    [
      'a Node module in a folder that is not pure',
      { 'store/a.ts': `import { sep } from 'node:path';\nexport const a = sep;\n` },
    ],
    [
      'the one file that a folder may import besides its folders',
      {
        'agent/a.ts': `import { b } from '../rules/token-bucket.ts';\nexport const a = b;\n`,
        'rules/token-bucket.ts': TOKEN_BUCKET,
      },
    ],
  ];

  const refused: [what: string, sources: Sources, rule: string][] = [
    [
      'a cycle of two files',
      {
        'store/a.ts': `import { b } from './b.ts';\nexport const a = (): unknown => b;\n`,
        'store/b.ts': `import { a } from './a.ts';\nexport const b = (): unknown => a;\n`,
      },
      'import(no-cycle)',
    ],
    [
      'a cycle of types only, over three files',
      {
        'store/a.ts': `import type { B } from './b.ts';\nexport interface A {\n  b: B;\n}\n`,
        'store/b.ts': `import type { C } from './c.ts';\nexport interface B {\n  c: C;\n}\n`,
        'store/c.ts': `import type { A } from './a.ts';\nexport interface C {\n  a: A;\n}\n`,
      },
      'import(no-cycle)',
    ],
    [
      'an upward import between folders',
      {
        'rules/a.ts': `import { b } from '../actors/b.ts';\nexport const a = b;\n`,
        'actors/b.ts': `export const b = 1;\n`,
      },
      'eslint(no-restricted-imports)',
    ],
    [
      'an upward import of a type',
      {
        'rules/a.ts': `import type { B } from '../actors/core/b.ts';\nexport type A = B;\n`,
        'actors/core/b.ts': `export type B = number;\n`,
      },
      'eslint(no-restricted-imports)',
    ],
    [
      'an upward re-export',
      {
        'rules/a.ts': `export { b } from '../actors/b.ts';\n`,
        'actors/b.ts': `export const b = 1;\n`,
      },
      'eslint(no-restricted-imports)',
    ],
    [
      'an import between folders of one layer',
      {
        'formats/a.ts': `import { b } from '../wire/b.ts';\nexport const a = b;\n`,
        'wire/b.ts': `export const b = 1;\n`,
      },
      'eslint(no-restricted-imports)',
    ],
    [
      'an upward import between sub-folders',
      {
        'http/request/a.ts': `import { b } from '../routes/b.ts';\nexport const a = b;\n`,
        'http/routes/b.ts': `export const b = 1;\n`,
      },
      'eslint(no-restricted-imports)',
    ],
    [
      'an import from a sub-folder of a file of its folder',
      {
        'http/request/a.ts': `import { b } from '../b.ts';\nexport const a = b;\n`,
        'http/b.ts': `export const b = 1;\n`,
      },
      'eslint(no-restricted-imports)',
    ],
    [
      'any other file of a folder of which one file is allowed',
      {
        'agent/a.ts': `import { b } from '../rules/b.ts';\nexport const a = b;\n`,
        'rules/b.ts': `export const b = 1;\n`,
        'rules/token-bucket.ts': TOKEN_BUCKET,
      },
      'eslint(no-restricted-imports)',
    ],
    ...['../../src/actors/b.ts', './../actors/b.ts', '../rules/../actors/b.ts', '/actors/b.ts', 'lmdb'].map(
      (specifier): [string, Sources, string] => [
        `an import of ${specifier}, which is a detour or an effect`,
        {
          'rules/a.ts': `import '${specifier}';\n`,
          'actors/b.ts': `export const b = 1;\n`,
        },
        'eslint(no-restricted-imports)',
      ],
    ),
    [
      'a Node module in a pure folder',
      { 'rules/a.ts': `import { sep } from 'node:path';\nexport const a = sep;\n` },
      'eslint(no-restricted-imports)',
    ],
    [
      'a Node module without its prefix',
      { 'rules/a.ts': `import { sep } from 'path';\nexport const a = sep;\n` },
      'unicorn(prefer-node-protocol)',
    ],
  ];
  /** All cases are linted in one run, by the rules that the table gives for their folders. */
  const cases = [...accepted, ...refused].map(([, sources], number) => numbered(number, sources));
  const broken = perSuite(
    () => {
      const directory = tree(Object.assign({}, ...cases) as Sources);
      const written = writeRules(directory);
      expect(written, written.output).to.include({ passes: true });
      return brokenRules(directory);
    },
    () => undefined,
  );
  const rulesBrokenIn = (number: number): string[] =>
    Object.keys(cases[number] ?? {}).flatMap((path) => broken.get(`src/${path}`) ?? []);

  for (const [number, [what]] of accepted.entries()) {
    it(`accept ${what}`, () => {
      expect(rulesBrokenIn(number)).to.deep.equal([]);
    });
  }

  for (const [index, [what, , rule]] of refused.entries()) {
    it(`reject ${what}`, () => {
      expect(rulesBrokenIn(accepted.length + index)).to.include(rule);
    });
  }

  for (const folder of ['elsewhere', 'http/elsewhere', 'machines/elsewhere']) {
    it(`reject a folder without a layer: ${folder}`, () => {
      const directory = tree({ [`${folder}/a.ts`]: `export const a = 1;\n` });
      const message = `src/${folder} has no layer: add it to scripts/layers.js\n`;
      expect(writeRules(directory)).to.deep.equal({ passes: false, output: message });
    });
  }
});

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { scrape } from '../../support/scrape.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const UNITS: Readonly<Record<string, number>> = { ms: 1, KiB: 1024, MiB: 1024 ** 2 };
/** Names of the bounds of queues and caches; limits on single values have other names. */
const GROWS =
  /^MAX_(OPEN|WAITING|RUNNING|CONCURRENT|HELD|QUEUED|BUFFERED|REMEMBERED|COUNTED|CACHED|KEPT|LINGERING|TICKETS|INSPECTORS|QUEUES|EVENTS_IN|BYTES_IN)/;
/** Constants in these files restrict the values of flags. */
const NOT_BOUNDS = /^src\/config\//;
const METRIC = /^`(queue|cache)="(\w+)"`$/;

interface Limit {
  what: string;
  /** As the table has it: a constant or a flag in code marks, or a description. */
  bound: string;
  /** Undefined where the bound is not a constant. */
  constant: { name: string; value: number; file: string } | undefined;
  metric: string;
}

/** The tables of the section "Limits", each with the list below it that explains its bounds. */
function documentedLimits(): Limit[] {
  const section = /^## Limits\n([\s\S]*)/m.exec(readFileSync(`${ROOT}docs/operate.md`, 'utf8'))?.[1] ?? '';
  return section.split(/^### /m).slice(1).flatMap(limitsOf);
}

function limitsOf(subsection: string): Limit[] {
  const rows = subsection.split('\n').filter((line) => line.startsWith('|') && !/^\| (What|-)/.test(line));
  const files = new Map(
    [...subsection.matchAll(/^- `([A-Z]\w+)` in `(src\/\S+\.ts)`: /gm)].map(([, name = '', file = '']) => [name, file]),
  );
  return rows.map((row) => {
    const [, what = '', bound = '', value = '', metric = ''] = row.split('|').map((cell) => cell.trim());
    const name = /^`([A-Z]\w+)`$/.exec(bound)?.[1];
    const constant = name && { name, value: valueOf(value), file: files.get(name) ?? 'no file' };
    return { what, bound, constant: constant || undefined, metric };
  });
}

function valueOf(text: string): number {
  const [, digits = 'NaN', unit = ''] = /^([\d,]+)(?: (KiB|MiB|ms))?$/.exec(text) ?? [];
  return Number(digits.replaceAll(',', '')) * (UNITS[unit] ?? 1);
}

/** The value of a constant in the source: a number, or a product of numbers. */
function valueInSource(file: string, name: string): number {
  const text = readFileSync(`${ROOT}${file}`, 'utf8');
  const expression = new RegExp(`^(?:export )?const ${name} = ([\\d_ *]+);`, 'm').exec(text)?.[1] ?? 'NaN';
  return expression.split('*').reduce((product, factor) => product * Number(factor.replaceAll('_', '').trim()), 1);
}

const sourceFiles = (): string[] =>
  readdirSync(`${ROOT}src`, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `src/${file}`);

describe('the limits in docs/operate.md', () => {
  const limits = documentedLimits();
  const named = limits.flatMap(({ constant, metric }) => (constant === undefined ? [] : [{ ...constant, metric }]));
  const directory = perSuite(temporaryDirectory, (made) => made.remove());
  const backend = perSuite(() => {
    const eventLog = { file: `${directory.path}/events.log`, maxBuffered: 1_000 };
    return InProcessBackend.start({ configure: (config) => ({ ...config, eventLog }) });
  });
  const metrics = perSuite(() => scrape(backend));

  it('have the values of the source', () => {
    expect(limits).to.have.length.above(30);
    expect(named).to.have.length.above(40);
    for (const { name, value, file } of named) {
      expect(file, `the file of ${name}`).to.match(/^src\//);
      expect(valueInSource(file, name), `${name} in ${file}`).to.equal(value);
    }
  });

  it('name only flags that the programs have', () => {
    const flags = limits.flatMap(({ bound }) => /^`(--[\w-]+)`$/.exec(bound)?.[1] ?? []);
    expect(flags).to.have.length.above(3);
    const config = sourceFiles().filter((file) => NOT_BOUNDS.test(file));
    const source = config.map((file) => readFileSync(`${ROOT}${file}`, 'utf8')).join('\n');
    expect(flags.filter((flag) => !source.includes(`'${flag.slice(2)}'`))).to.deep.equal([]);
  });

  it('each have a text that states what happens at the bound', () => {
    const page = readFileSync(`${ROOT}docs/operate.md`, 'utf8');
    const unexplained = limits.filter(({ what, bound, constant }) => {
      if (constant !== undefined) return false;
      const subject = bound.startsWith('`') ? bound : what;
      return !page.toLowerCase().includes(`\n- ${subject.toLowerCase()}`);
    });
    expect(unexplained).to.deep.equal([]);
  });

  it('include every constant that is named like the bound of something that grows', () => {
    const found = sourceFiles()
      .filter((file) => !NOT_BOUNDS.test(file))
      .flatMap((file) =>
        [...readFileSync(`${ROOT}${file}`, 'utf8').matchAll(/^(?:export )?const (MAX_\w+) =/gm)]
          .map(([, name = '']) => name)
          .filter((name) => GROWS.test(name))
          .map((name) => `${name} in ${file}`),
      );
    const documented = named.filter(({ name }) => GROWS.test(name)).map(({ name, file }) => `${name} in ${file}`);
    expect(documented).to.have.members(found);
  });

  it('include the bound of every cache of more than one item', () => {
    const bounds = sourceFiles().flatMap((file) =>
      [...readFileSync(`${ROOT}${file}`, 'utf8').matchAll(/(?:\batMost\(|\{ max: )(?!1 )([A-Z]\w+)/g)].map(
        ([, bound = '']) => `${bound} in ${file}`,
      ),
    );
    expect(bounds).to.have.length.above(15);
    expect(named.map(({ name, file }) => `${name} in ${file}`)).to.include.members(bounds);
  });

  it('have the value that the metrics report, unless the table says that there is no metric', () => {
    for (const { what, constant, metric } of limits) {
      if (metric === 'none') continue;
      const [, kind = '', name = ''] = METRIC.exec(metric) ?? [];
      const limit = metrics.value(`mon_${kind}_limit`, { [kind]: name });
      if (constant === undefined) expect(limit, what).to.be.above(0);
      else expect(limit, what).to.equal(constant.value);
    }
  });

  it('include every queue and cache of the metrics', () => {
    const listed = limits.map(({ metric }) => metric);
    for (const family of ['mon_queue_limit', 'mon_cache_limit']) {
      for (const { labels } of metrics.families.get(family)?.samples ?? []) {
        const [[kind, name] = []] = Object.entries(labels);
        expect(listed).to.include(`\`${kind}="${name}"\``);
      }
    }
  });
});

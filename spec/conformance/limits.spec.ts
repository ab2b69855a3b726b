import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { perSuite } from '../support/fixture.ts';
import { InProcessBackend } from '../support/in-process-backend.ts';
import { scrape } from '../support/scrape.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const UNITS: Readonly<Record<string, number>> = { KiB: 1024, MiB: 1024 ** 2 };
/** What bounds of queues and caches are called; limits on single values are not. */
const GROWS =
  /^MAX_(OPEN|WAITING|RUNNING|CONCURRENT|HELD|QUEUED|BUFFERED|REMEMBERED|COUNTED|CACHED|KEPT|LINGERING|TICKETS|INSPECTORS|QUEUES|EVENTS_IN|BYTES_IN)/;
/** Flags have bounds of their own, on what may be given. */
const NOT_BOUNDS = /^src\/config\//;

interface Limit {
  what: string;
  /** The bound's name, its value, and where it stands; undefined for a flag. */
  constant: { name: string; value: number; file: string } | undefined;
  metric: string;
}

function documentedLimits(): Limit[] {
  const section = /^## Limits\n([\s\S]*?)^## /m.exec(readFileSync(`${ROOT}docs/operate.md`, 'utf8'))?.[1] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('|') && !/^\| (What|-)/.test(line));
  return rows.map((row) => {
    const [, what = '', bound = '', , metric = ''] = row.split('|').map((cell) => cell.trim());
    return { what, constant: constantOf(bound), metric };
  });
}

function constantOf(bound: string): Limit['constant'] {
  const [, name, digits = '', unit = '', file = ''] =
    /^`(MAX_\w+)` = ([\d,]+)(?: (KiB|MiB))? in `(src\/\S+\.ts)`$/.exec(bound) ?? [];
  if (name === undefined) return undefined;
  return { name, value: Number(digits.replaceAll(',', '')) * (UNITS[unit] ?? 1), file };
}

/** As it stands in the source: a number, or a product of some. */
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

  it('are those of the source', () => {
    expect(limits).to.have.length.above(30);
    for (const { name, value, file } of named) expect(valueInSource(file, name), `${name} in ${file}`).to.equal(value);
  });

  it('are all that are called like the bound of something that grows', () => {
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

  it('name the bound of every cache', () => {
    const bounds = sourceFiles().flatMap((file) =>
      [...readFileSync(`${ROOT}${file}`, 'utf8').matchAll(/new LRUCache<[^(]*\(\{ max: ([^ ,}]+)/g)].map(
        ([, bound = '']) => `${bound} in ${file}`,
      ),
    );
    expect(bounds).to.have.length.above(5);
    expect(named.map(({ name, file }) => `${name} in ${file}`)).to.include.members(bounds);
  });

  it('are in the metrics with that value, or are said to have none', () => {
    for (const { what, constant, metric } of limits) {
      if (/^none(:|$)/.test(metric)) continue;
      const [, kind = '', name = ''] = /^`(queue|cache)="(\w+)"`$/.exec(metric) ?? [];
      const limit = metrics.value(`mon_${kind}_limit`, { [kind]: name });
      if (constant === undefined) expect(limit, what).to.be.above(0);
      else expect(limit, what).to.equal(constant.value);
    }
  });

  it('are all that the metrics have', () => {
    const listed = limits.map(({ metric }) => metric);
    for (const family of ['mon_queue_limit', 'mon_cache_limit']) {
      for (const { labels } of metrics.families.get(family)?.samples ?? []) {
        const [[kind, name] = []] = Object.entries(labels);
        expect(listed).to.include(`\`${kind}="${name}"\``);
      }
    }
  });
});

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MOCHA = `${ROOT}node_modules/mocha/bin/mocha.js`;

interface Report {
  stats: { tests: number };
  tests: { file: string }[];
}

describe('npx mocha <file>', function () {
  this.timeout(60_000);

  it('runs the tests of that file only', () => {
    const file = `${ROOT}spec/wire/handshake.spec.ts`;
    const args = [MOCHA, '--dry-run', '--no-parallel', '--reporter=json', file];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 });
    expect(stdout, stderr).to.match(/^\{/);
    const { stats, tests } = JSON.parse(stdout) as Report;
    expect(stats.tests).to.be.above(0);
    expect(new Set(tests.map((test) => test.file))).to.deep.equal(new Set([file]));
  });
});

describe('npm test', () => {
  it('runs every spec file, each one once', () => {
    const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { scripts: { test: string } };
    const patterns = [...scripts.test.matchAll(/'([^']+)'/g)].map(([, pattern]) => pattern).join(' ');
    // The shell expands these patterns as mocha does.
    const options = ['-O', 'extglob', '-O', 'globstar', '-O', 'nullglob'];
    const { stdout } = spawnSync('bash', [...options, '-c', `printf '%s\\n' ${patterns}`], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    const all = readdirSync(`${ROOT}spec`, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.spec.ts'))
      .map((name) => `spec/${name}`);
    expect(stdout.trim().split('\n').toSorted()).to.deep.equal(all.toSorted());
  });
});

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { perSuite } from '../support/fixture.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TRACKED = ['package.json', 'tsconfig.json', 'bin', 'scripts', 'src'];

interface Lock {
  packages: Record<string, { dev?: true; optional?: true }>;
}

/** The folders of the packages that `npm ci --omit=dev` installs at the top level. */
function productionPackages(): string[] {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
  return Object.entries(packages)
    .filter(([path, { dev }]) => /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) && !dev)
    .map(([path]) => path);
}

function run(directory: string, program: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: directory, encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('a clone with the packages of npm ci --omit=dev', function () {
  this.timeout(60_000);
  const clone = perSuite(async () => {
    const directory = await temporaryDirectory();
    for (const name of TRACKED) cpSync(join(ROOT, name), join(directory.path, name), { recursive: true });
    for (const path of productionPackages()) {
      mkdirSync(join(directory.path, dirname(path)), { recursive: true });
      symlinkSync(join(ROOT, path), join(directory.path, path));
    }
    mkdirSync(join(directory.path, 'node_modules', '.bin'));
    symlinkSync('../typescript/bin/tsc', join(directory.path, 'node_modules', '.bin', 'tsc'));
    return { path: directory.path, stop: () => directory.remove() };
  });

  it('is built by the prepare script, and its programs run', () => {
    const before = run(clone.path, process.execPath, 'bin/mon-backend.js', 'version');
    expect(before).to.deep.include({ status: 1, stdout: '' });
    expect(before.stderr).to.match(/^mon is not built: run "npm ci" in \S+, or "npm run compile"/);

    const prepared = run(clone.path, 'npm', 'run', '--silent', 'prepare');
    expect(prepared.status, prepared.stdout + prepared.stderr).to.equal(0);
    for (const program of ['backend', 'agent']) {
      const { status, stdout, stderr } = run(clone.path, process.execPath, `bin/mon-${program}.js`, 'version');
      expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
      expect(stdout).to.match(new RegExp(`^mon-${program} version `));
    }
  });

  it('is compiled again at npm start when a source file is newer', () => {
    rmSync(join(clone.path, 'dist'), { recursive: true, force: true });
    const { status, stderr } = run(clone.path, 'npm', 'run', '--silent', 'prestart');
    expect(status, stderr).to.equal(0);
    expect(run(clone.path, process.execPath, 'bin/mon-agent.js', 'version').status).to.equal(0);
  });
});

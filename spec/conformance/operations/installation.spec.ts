import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { perSuite } from '../../support/fixture.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const TRACKED = ['package.json', 'tsconfig.json', 'bin', 'scripts', 'src', 'web'];

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

/** The compilation of the clone takes back what it made before: only whether it is started matters. */
function compileFromKept(directory: string): void {
  renameSync(join(directory, 'dist'), join(directory, 'kept'));
  const path = join(directory, 'package.json');
  const contents = JSON.parse(readFileSync(path, 'utf8')) as { scripts: Record<string, string> };
  contents.scripts['compile'] = `node -e "fs.cpSync('kept', 'dist', { recursive: true })"`;
  writeFileSync(path, JSON.stringify(contents));
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

  it('is compiled again at npm start when it is not built, or when a source file is newer', () => {
    compileFromKept(clone.path);
    const start = (): void => {
      const { status, stderr } = run(clone.path, 'npm', 'run', '--silent', 'prestart');
      expect(status, stderr).to.equal(0);
    };
    start();
    expect(run(clone.path, process.execPath, 'bin/mon-agent.js', 'version').status).to.equal(0);

    const program = join(clone.path, 'dist/main/agent.cjs');
    rmSync(program);
    start();
    expect(existsSync(program)).to.equal(false);
    const inAMinute = Date.now() / 1_000 + 60;
    utimesSync(join(clone.path, 'src/main/start-agent.ts'), inAMinute, inAMinute);
    start();
    expect(existsSync(program)).to.equal(true);
  });
});

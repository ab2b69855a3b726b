/**
 * Builds the packages of a system from the tarball of npm.
 *
 *     node packaging/build.js --format deb|rpm --package mon-backend|mon-agent --out <directory>
 *                             [--tarball <file>] [--version <version>] [--system-node] [--compression gzip|none]
 *
 * A package has the program, the modules that are not part of its bundle, and Node.js, unless `--system-node` makes it
 * depend on that of the system. Without `--tarball` it runs `npm pack`. `--compression gzip` is the usual one of a
 * format. It needs `dpkg-deb` or `rpmbuild`.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const ARCHITECTURES = { x64: { deb: 'amd64', rpm: 'x86_64' }, arm64: { deb: 'arm64', rpm: 'aarch64' } };
const PACKAGES = {
  'mon-backend': {
    summary: 'mon, the monitoring backend',
    modules: ['lmdb', 'msgpackr', '@node-rs/bcrypt', 'quickjs-emscripten', 'swagger-ui-dist'],
    files: [['packaging/logrotate/mon-backend', 'etc/logrotate.d/mon-backend']],
    example: 'backend.yml',
  },
  'mon-agent': {
    summary: 'mon, the monitoring agent',
    modules: ['lmdb', 'msgpackr'],
    files: [],
    example: 'agent.yml',
  },
};
/** Native code that the programs use where it is installed. */
const OPTIONAL_MODULES = ['bufferutil'];
const NODE_OF_SYSTEM = 'nodejs (>= 20.19)';
/** What the programs call: see docs/install.md. */
const NEEDED = { deb: 'libc6, util-linux', rpm: 'glibc util-linux' };

const { values } = parseArgs({
  options: {
    format: { type: 'string', default: 'deb' },
    package: { type: 'string', default: 'mon-backend' },
    out: { type: 'string', default: '.' },
    tarball: { type: 'string' },
    version: { type: 'string' },
    'system-node': { type: 'boolean', default: false },
    compression: { type: 'string', default: 'gzip' },
  },
});

const name = values.package;
const kind = PACKAGES[name];
const architecture = ARCHITECTURES[process.arch]?.[values.format];
if (kind === undefined || architecture === undefined) {
  throw new Error(`no package ${name} of format ${values.format} for ${process.arch}`);
}
const out = resolve(values.out);
mkdirSync(out, { recursive: true });
const work = mkdtempSync(join(tmpdir(), 'mon-package-'));
try {
  const tree = join(work, 'tree');
  const version = values.version ?? JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version;
  stage(tree, values.tarball ?? pack(), version);
  const file = values.format === 'deb' ? buildDeb(tree, version) : buildRpm(tree, version);
  process.stdout.write(`${file}\n`);
} finally {
  rmSync(work, { recursive: true, force: true });
}

function pack() {
  const output = execFileSync('npm', ['pack', '--silent', '--pack-destination', work], { cwd: ROOT, encoding: 'utf8' });
  return join(work, output.trim().split('\n').at(-1));
}

/** Lays out the files of the package as they are installed. */
function stage(tree, tarball, version) {
  const home = join(tree, 'usr/lib', name);
  mkdirSync(home, { recursive: true });
  execFileSync('tar', ['-xzf', resolve(tarball), '-C', home, '--strip-components=1']);
  const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  writeFileSync(join(home, 'package.json'), JSON.stringify({ ...manifest, version }, null, 2));
  for (const module of closureOf([...kind.modules, ...OPTIONAL_MODULES])) {
    cpSync(join(ROOT, 'node_modules', module), join(home, 'node_modules', module), {
      recursive: true,
      dereference: true,
    });
  }
  const node = values['system-node'] ? '/usr/bin/node' : `/usr/lib/${name}/node`;
  if (!values['system-node']) {
    cpSync(process.execPath, join(home, 'node'));
    chmodSync(join(home, 'node'), 0o755);
  }
  put(tree, `usr/sbin/${name}`, `#!/bin/sh\nexec ${node} /usr/lib/${name}/bin/${name}.js "$@"\n`, 0o755);
  copy(`packaging/systemd/${name}.service`, tree, `lib/systemd/system/${name}.service`);
  for (const [from, to] of kind.files) copy(from, tree, to);
  const documents = `usr/share/doc/${name}`;
  const pages = readdirSync(join(ROOT, 'docs')).filter((file) => file.endsWith('.md'));
  for (const page of pages) copy(`docs/${page}`, tree, `${documents}/${page}`);
  copy(`packaging/examples/${kind.example}`, tree, `${documents}/${kind.example}.example`);
  copy('packaging/examples/environment', tree, `${documents}/environment.example`);
  copy('LICENSE', tree, `${documents}/copyright`);
}

/** The modules and what they depend on, as far as it is installed at the top of `node_modules`. */
function closureOf(names) {
  const found = new Set();
  const visit = (module) => {
    const manifest = join(ROOT, 'node_modules', module, 'package.json');
    if (found.has(module) || !existsSync(manifest)) return;
    found.add(module);
    const { dependencies = {}, optionalDependencies = {} } = JSON.parse(readFileSync(manifest, 'utf8'));
    for (const dependency of Object.keys({ ...dependencies, ...optionalDependencies })) visit(dependency);
  };
  for (const module of names) {
    const isOptional = OPTIONAL_MODULES.includes(module);
    if (!isOptional && !existsSync(join(ROOT, 'node_modules', module)))
      throw new Error(`${module} is not installed: run npm ci`);
    visit(module);
  }
  return found;
}

function put(tree, path, text, mode = 0o644) {
  mkdirSync(dirname(join(tree, path)), { recursive: true });
  writeFileSync(join(tree, path), text, { mode });
  chmodSync(join(tree, path), mode);
}

function copy(from, tree, to) {
  put(tree, to, readFileSync(join(ROOT, from), 'utf8'));
}

function template(path, changes) {
  return Object.entries(changes).reduce(
    (text, [key, value]) => text.replaceAll(`@${key}@`, value),
    readFileSync(join(ROOT, path), 'utf8'),
  );
}

function buildDeb(tree, version) {
  const depends = [NEEDED.deb, ...(values['system-node'] ? [NODE_OF_SYSTEM] : [])].join(', ');
  const control = {
    Package: name,
    Version: `${version}-1`,
    Section: 'admin',
    Priority: 'optional',
    Architecture: architecture,
    Maintainer: 'mon',
    Depends: depends,
    Description: kind.summary,
  };
  const lines = Object.entries(control).map(([field, value]) => `${field}: ${value}\n`);
  put(tree, 'DEBIAN/control', lines.join(''));
  if (kind.files.length > 0) put(tree, 'DEBIAN/conffiles', kind.files.map(([, to]) => `/${to}\n`).join(''));
  for (const script of ['postinst', 'prerm', 'postrm']) {
    put(tree, `DEBIAN/${script}`, template(`packaging/deb/${script}`, { PACKAGE: name }), 0o755);
  }
  const file = join(out, `${name}_${version}-1_${architecture}.deb`);
  execFileSync('dpkg-deb', ['--root-owner-group', `-Z${values.compression}`, '--build', tree, file], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return file;
}

function buildRpm(tree, version) {
  const spec = join(out, `${name}.spec`);
  const requires = [NEEDED.rpm, ...(values['system-node'] ? ['nodejs >= 20.19'] : [])].join(' ');
  const files = filesBelow(tree).map((path) => `${path.startsWith('/etc/') ? '%config(noreplace) ' : ''}"${path}"`);
  writeFileSync(
    spec,
    template('packaging/rpm/mon.spec.in', {
      PACKAGE: name,
      VERSION: version,
      SUMMARY: kind.summary,
      REQUIRES: requires,
      FILES: files.join('\n'),
    }),
  );
  const payload = values.compression === 'none' ? ['--define', '_binary_payload w.ufdio'] : [];
  const places = ['--buildroot', tree, '--define', `_topdir ${join(work, 'rpm')}`, '--define', `_rpmdir ${out}`];
  execFileSync('rpmbuild', ['-bb', '--quiet', '--target', architecture, ...places, ...payload, spec], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return join(out, architecture, `${name}-${version}-1.${architecture}.rpm`);
}

/** The directory of the program as a whole, and every other file. */
function filesBelow(tree) {
  const others = readdirSync(tree, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(tree.length))
    .filter((path) => !path.startsWith(`/usr/lib/${name}/`));
  return [`/usr/lib/${name}`, ...others];
}

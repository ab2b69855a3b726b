import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

interface Locked {
  version?: string;
  integrity?: string;
  resolved?: string;
  link?: boolean;
  optional?: boolean;
  dev?: boolean;
  hasInstallScript?: boolean;
}

interface Manifest {
  dependencies: Readonly<Record<string, string>>;
  devDependencies: Readonly<Record<string, string>>;
  optionalDependencies: Readonly<Record<string, string>>;
}

/** Packages with native code that run a script at their installation. All others run none. */
const WITH_INSTALL_SCRIPT = ['bufferutil', 'esbuild', 'lmdb', 'msgpackr-extract'];

const readJson = (path: string): unknown => JSON.parse(readFileSync(ROOT + path, 'utf8')) as unknown;

describe('A20: the dependencies', () => {
  const manifest = readJson('package.json') as Manifest;
  const { packages } = readJson('package-lock.json') as { packages: Readonly<Record<string, Locked>> };
  const installed = Object.entries(packages).filter(([path]) => path !== '');

  it('have exact versions, which the lockfile repeats', () => {
    for (const [name, version] of Object.entries({
      ...manifest.dependencies,
      ...manifest.optionalDependencies,
      ...manifest.devDependencies,
    })) {
      expect(version, name).to.match(/^\d+\.\d+\.\d+$/);
      expect(packages[`node_modules/${name}`], name).to.have.property('version', version);
    }
  });

  it('have checksums in the lockfile, unless they are builds for other systems, and name no registry', () => {
    const unchecked = installed.filter(
      ([, { integrity, link, optional }]) => integrity === undefined && link !== true && optional !== true,
    );
    expect(unchecked.map(([path]) => path)).to.deep.equal([]);
    expect(installed.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).to.deep.equal([]);
  });

  it('run no scripts at their installation, except the listed ones with native code', () => {
    const withScript = installed
      .filter(([, { hasInstallScript }]) => hasInstallScript === true)
      .map(([path]) => path.replace(/^.*node_modules\//, ''));
    expect(withScript.filter((name) => !WITH_INSTALL_SCRIPT.includes(name))).to.deep.equal([]);
  });

  it('are each named with the reason for them', () => {
    const reasons = readFileSync(`${ROOT}docs/decisions/0001-dependencies.md`, 'utf8');
    const unnamed = Object.keys({
      ...manifest.dependencies,
      ...manifest.optionalDependencies,
      ...manifest.devDependencies,
    }).filter((name) => !name.startsWith('@types/') && !reasons.includes(name));
    expect(unnamed).to.deep.equal([]);
  });
});

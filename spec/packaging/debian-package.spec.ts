import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { perSuite } from '../support/fixture.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { buildPackage, canChroot, FUNCTIONS, inThrowawaySystem, packTarball, ROOT } from './throwaway-system.ts';

describe('the Debian package', function () {
  this.timeout(300_000);
  const directory = perSuite(temporaryDirectory, (made) => made.remove());
  const build = (name: string, version: string): void => {
    buildPackage(directory.path, name, version);
  };

  before(() => {
    packTarball(directory.path);
    build('mon-backend', '0.0.9');
    build('mon-backend', '0.1.0');
    build('mon-agent', '0.1.0');
  });

  const list = (file: string): string =>
    execFileSync('dpkg-deb', ['--contents', join(directory.path, file)], { encoding: 'utf8' });

  it('has the program, its unit, examples and documents', () => {
    const files = list('mon-backend_0.1.0-1_amd64.deb');
    for (const path of [
      './usr/sbin/mon-backend',
      './lib/systemd/system/mon-backend.service',
      './etc/logrotate.d/mon-backend',
      './usr/share/doc/mon-backend/backend.yml.example',
      './usr/lib/mon-backend/dist/main/backend.cjs',
    ]) {
      expect(files).to.contain(` ${path}\n`);
    }
    expect(files).not.to.contain('./etc/default/');
    expect(files).not.to.match(/usr\/lib\/mon-backend\/(src|spec)\//);
  });

  if (!canChroot) {
    it('is installed in a throw-away copy of the machine only by root', () => {
      expect(spawnSync('unshare', ['--mount', 'true']).status).not.to.equal(0);
    });
    return;
  }

  it('case 39: is installed with a user and directories, and without a running service or settings', () => {
    const output = inThrowawaySystem(
      directory.path,
      `dpkg --force-depends -i /packages/mon-backend_0.1.0-1_amd64.deb > /dev/null 2>&1
       getent passwd mon | cut -d: -f1,6,7
       stat -c '%U %a' /var/lib/mon/mon-backend /var/cache/mon/mon-backend /var/log/mon
       ls /etc/default/mon-backend /etc/systemd/system/multi-user.target.wants/mon-backend.service 2>&1 | grep -c 'No such file'
       pgrep -f '[/]usr/lib/mon-backend' || echo none runs`,
    );
    expect(output.trim().split('\n')).to.deep.equal([
      'mon:/opt/mon:/usr/sbin/nologin',
      'mon 700',
      'mon 755',
      'mon 755',
      '2',
      'none runs',
    ]);
  });

  it('starts, is upgraded from a former version while its data stays, and is removed without its data and user', () => {
    const output = inThrowawaySystem(
      directory.path,
      `${FUNCTIONS}
       dpkg --force-depends -i /packages/mon-backend_0.0.9-1_amd64.deb > /dev/null 2>&1
       mon-backend version | cut -d+ -f1
       run mon-backend init --cluster-admin-username admin --cluster-admin-password 12345678 2> /dev/null
       begin; end
       dpkg --force-depends -i /packages/mon-backend_0.1.0-1_amd64.deb > /dev/null 2>&1
       mon-backend version | cut -d+ -f1
       run mon-backend upgrade --skip-confirm 2> /dev/null
       begin; end
       dpkg --remove mon-backend > /dev/null 2>&1
       ls /usr/sbin/mon-backend 2>&1 | grep -c 'No such file'
       ls /var/lib/mon/mon-backend/store/data.mdb
       getent passwd mon | cut -d: -f1`,
    );
    expect(output.trim().split('\n')).to.deep.equal([
      'mon-backend version 0.0.9',
      '1',
      'stopped',
      'mon-backend version 0.1.0',
      'nothing was upgraded: version 0.1.0 has no datastore changes',
      '1',
      'stopped',
      '1',
      '/var/lib/mon/mon-backend/store/data.mdb',
      'mon',
    ]);
  });

  it('has its directories again when it was removed, they were deleted, and it is installed again', () => {
    const output = inThrowawaySystem(
      directory.path,
      `install_it() { dpkg --force-depends -i /packages/mon-backend_0.1.0-1_amd64.deb > /dev/null 2>&1; }
       install_it; chown mon:mon /var/lib/mon
       dpkg --remove mon-backend > /dev/null 2>&1
       rm -rf /var/lib/mon/mon-backend /var/cache/mon /var/log/mon
       install_it
       stat -c '%U %a' /var/lib/mon /var/cache/mon /var/lib/mon/mon-backend /var/cache/mon/mon-backend /var/log/mon`,
    );
    expect(output.trim().split('\n')).to.deep.equal(['root 755', 'root 755', 'mon 700', 'mon 755', 'mon 755']);
  });

  it('of the agent is installed beside that of the backend', () => {
    const output = inThrowawaySystem(
      directory.path,
      `dpkg --force-depends -i /packages/mon-backend_0.1.0-1_amd64.deb /packages/mon-agent_0.1.0-1_amd64.deb > /dev/null 2>&1
       mon-agent version | cut -d+ -f1`,
    );
    expect(output).to.equal('mon-agent version 0.1.0\n');
  });
});

describe('the systemd units', () => {
  const unit = (name: string): string => readFileSync(join(ROOT, 'packaging/systemd', name), 'utf8');

  it('run as the user mon with its environment files, and restart the program unless that cannot help', () => {
    for (const program of ['mon-backend', 'mon-agent']) {
      const text = unit(`${program}.service`);
      for (const line of [
        'User=mon',
        `EnvironmentFile=-/etc/default/${program}`,
        `EnvironmentFile=-/etc/sysconfig/${program}`,
        'LimitNOFILE=65535',
        'Restart=always',
        'TimeoutStopSec=45',
        `ExecStart=/usr/sbin/${program} start`,
      ]) {
        expect(text.split('\n')).to.include(line);
      }
    }
    expect(unit('mon-backend.service')).to.contain('RestartPreventExitStatus=4 5\n');
    expect(unit('mon-backend.service')).to.contain('ExecReload=/bin/kill -HUP $MAINPID\n');
    expect(unit('mon-agent.service')).not.to.contain('ExecReload');
  });
});

describe('the file of logrotate', () => {
  const text = readFileSync(join(ROOT, 'packaging/logrotate/mon-backend'), 'utf8');

  it('leaves the logs alone that rotate themselves', () => {
    const [, line = ''] = /^(\/.*) \{$/m.exec(text) ?? [];
    const patterns = line
      .split(' ')
      .map((glob) => new RegExp(`^${glob.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`));
    const isRotated = (name: string): boolean => patterns.some((pattern) => pattern.test(`/var/log/mon/${name}`));
    expect(['events.log', 'mon-backend.log'].filter(isRotated)).to.have.length(2);
    expect(['backend-stats.log', 'mon-agent.log'].filter(isRotated)).to.deep.equal([]);
  });

  it('sends no signal to the commands of handlers, which run in the same unit', () => {
    const commands = text.replaceAll(/^ *#.*$/gm, '');
    expect(commands).to.include('systemctl reload mon-backend.service').and.not.include('systemctl kill');
  });
});

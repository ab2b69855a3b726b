import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { perSuite } from '../support/fixture.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { buildPackage, canChroot, FUNCTIONS, hasTool, inThrowawaySystem, packTarball } from './throwaway-system.ts';

const VERSION = '0.1.0';
const DEB = `dpkg --force-depends -i /packages/mon-backend_${VERSION}-1_amd64.deb /packages/mon-agent_${VERSION}-1_amd64.deb > /dev/null 2>&1`;
const RPM = 'rpm --force-debian --nodeps';

/** Declares tests that run a tool of the system as root; without it, one line says that they are left out. */
function withTool(tool: string, declare: () => void): void {
  if (canChroot && hasTool(tool)) declare();
  else console.log(`skipped: tests of packages with ${tool}, which need root and ${tool}`);
}

describe('the packages, with the tools of the system', function () {
  this.timeout(300_000);
  const directory = perSuite(temporaryDirectory, (made) => made.remove());
  const inSystem = (script: string): string[] => inThrowawaySystem(directory.path, script).trim().split('\n');

  before(() => {
    if (!canChroot) return;
    packTarball(directory.path);
    for (const name of ['mon-backend', 'mon-agent']) buildPackage(directory.path, name, VERSION);
  });

  withTool('systemd-analyze', () => {
    it('have units of which systemd has nothing to say', () => {
      const output = inSystem(`${DEB}
        systemd-analyze verify /lib/systemd/system/mon-backend.service /lib/systemd/system/mon-agent.service 2>&1 | grep mon || true
        echo verified`);
      expect(output).to.deep.equal(['verified']);
    });
  });

  withTool('logrotate', () => {
    it('have a file of logrotate by which the event log of a running backend is rotated, compressed and opened again', () => {
      const output = inSystem(`${FUNCTIONS}
        ${DEB}
        # Stands for systemd: it does what ExecReload of the unit says.
        mkdir -p /run/systemd/system && printf '#!/bin/sh\\necho $(id -u) "$@" >> /tmp/calls; kill -HUP $(cat /tmp/pid)\\n' > /usr/bin/systemctl
        chmod 755 /usr/bin/systemctl
        run mon-backend init --cluster-admin-username admin --cluster-admin-password 12345678 2> /dev/null
        begin --event-log-file /var/log/mon/events.log
        echo $pid > /tmp/pid
        echo own > /var/log/mon/backend-stats.log.2; touch /var/log/mon/mon-agent.log
        for rotation in 1 2; do
          echo "record $rotation" >> /var/log/mon/events.log
          logrotate --force /etc/logrotate.d/mon-backend 2>&1
          for second in $(seq 30); do [ -e /var/log/mon/events.log ] && break; sleep 1; done
        done
        stat -c '%n %U %a' /var/log/mon/events.log
        zcat /var/log/mon/events.log.2.gz; cat /var/log/mon/events.log.1
        cat /tmp/calls; ls /var/log/mon/mon-agent.log; cat /var/log/mon/backend-stats.log.2
        end`);
      expect(output).to.deep.equal([
        '1',
        '/var/log/mon/events.log mon 644',
        'record 1',
        'record 2',
        '0 reload mon-backend.service',
        '0 reload mon-backend.service',
        '/var/log/mon/mon-agent.log',
        'own',
        'stopped',
      ]);
    });

    it('have a file of logrotate that follows no link out of the directory, which belongs to the user of handlers', () => {
      const output = inSystem(`${DEB}
        echo secret > /root/secret; chmod 600 /root/secret
        ln -s /root/secret /var/log/mon/events.log; ln -s /root /var/log/mon/event-archive.log
        logrotate --force /etc/logrotate.d/mon-backend > /dev/null 2>&1 || true
        stat -c '%U %a' /root/secret; cat /root/secret
        find /var/log/mon -type f`);
      expect(output).to.deep.equal(['root 600', 'secret']);
    });
  });

  withTool('rpmbuild', () => {
    const rpm = (name: string, version: string): string =>
      join(directory.path, `x86_64/${name}-${version}-1.x86_64.rpm`);
    const query = (...args: readonly string[]): string =>
      execFileSync('rpm', ['--force-debian', '-qp', ...args], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });

    before(() => {
      buildPackage(directory.path, 'mon-backend', '0.0.9', 'rpm');
      for (const name of ['mon-backend', 'mon-agent']) buildPackage(directory.path, name, VERSION, 'rpm');
    });

    it('have the files of the Debian package in the one of Red Hat, which belong to root, and its settings', () => {
      const filesOf = (list: string): string[] => list.split('\n').filter((path) => path !== '' && !path.endsWith('/'));
      const packed = filesOf(query('--list', rpm('mon-backend', VERSION)));
      const deb = join(directory.path, `mon-backend_${VERSION}-1_amd64.deb`);
      const contents = execFileSync('dpkg-deb', ['--fsys-tarfile', deb], { maxBuffer: 2 ** 30 });
      const expected = execFileSync('tar', ['-t'], { input: contents, encoding: 'utf8' });
      expect(packed).to.include.members(filesOf(expected.replaceAll(/^\./gm, '')));
      expect(query('--queryformat', '[%{FILEUSERNAME}\n]', rpm('mon-backend', VERSION))).to.match(/^(root\n)+$/);
      expect(query('--configfiles', rpm('mon-backend', VERSION))).to.equal('/etc/logrotate.d/mon-backend\n');
      expect(query('--requires', rpm('mon-agent', VERSION)))
        .to.include('util-linux\n')
        .and.include('nodejs >= 20.19\n');
    });

    it('are installed by rpm, upgraded while data and settings stay, and removed without data and user', () => {
      const output = inSystem(`${FUNCTIONS}
        ${RPM} -i /packages/mon-backend-0.0.9-1.x86_64.rpm 2>&1
        mon-backend version | cut -d+ -f1
        stat -c '%U %a' /var/lib/mon/mon-backend /var/cache/mon/mon-backend /var/log/mon
        ls /etc/default/mon-backend /etc/systemd/system/multi-user.target.wants/mon-backend.service 2>&1 | grep -c 'No such file'
        run mon-backend init --cluster-admin-username admin --cluster-admin-password 12345678 2> /dev/null
        begin; end
        echo '# mine' >> /etc/logrotate.d/mon-backend
        ${RPM} -U /packages/mon-backend-${VERSION}-1.x86_64.rpm /packages/mon-agent-${VERSION}-1.x86_64.rpm 2>&1
        mon-backend version | cut -d+ -f1; mon-agent version | cut -d+ -f1
        tail -1 /etc/logrotate.d/mon-backend
        begin; end
        ${RPM} -e mon-backend 2>&1
        ls /usr/sbin/mon-backend 2>&1 | grep -c 'No such file'
        ls /etc/logrotate.d/mon-backend.rpmsave /var/lib/mon/mon-backend/store/data.mdb
        getent passwd mon | cut -d: -f1`);
      expect(output.filter((line) => !line.startsWith('warning:'))).to.deep.equal([
        'mon-backend version 0.0.9',
        'mon 700',
        'mon 755',
        'mon 755',
        '2',
        '1',
        'stopped',
        `mon-backend version ${VERSION}`,
        `mon-agent version ${VERSION}`,
        '# mine',
        '1',
        'stopped',
        '1',
        '/etc/logrotate.d/mon-backend.rpmsave',
        '/var/lib/mon/mon-backend/store/data.mdb',
        'mon',
      ]);
    });
  });
});

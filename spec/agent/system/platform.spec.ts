import { expect } from 'chai';
import { linuxPlatform } from '../../../src/agent/system/platform.ts';

const CASES: { what: string; files: Record<string, string>; is: [string, string, string] }[] = [
  {
    what: 'Debian',
    files: { '/etc/debian_version': '12.5\n', '/etc/os-release': 'ID=x' },
    is: ['debian', 'debian', '12.5'],
  },
  {
    what: 'Ubuntu',
    files: {
      '/etc/debian_version': 'bookworm/sid\n',
      '/etc/lsb-release': 'DISTRIB_ID=Ubuntu\nDISTRIB_RELEASE=22.04\nDISTRIB_DESCRIPTION="Ubuntu 22.04"\n',
    },
    is: ['ubuntu', 'debian', '22.04'],
  },
  {
    what: 'Raspbian',
    files: { '/etc/debian_version': '11.1\n', '/usr/bin/raspi-config': '#!/bin/sh' },
    is: ['raspbian', 'debian', '11.1'],
  },
  {
    what: 'CentOS',
    files: { '/etc/redhat-release': 'CentOS Linux release 7.9.2009 (Core)\n' },
    is: ['centos', 'rhel', '7.9.2009'],
  },
  {
    what: 'Red Hat',
    files: { '/etc/redhat-release': 'Red Hat Enterprise Linux release 9.2 (Plow)\n' },
    is: ['redhat', 'rhel', '9.2'],
  },
  { what: 'Fedora', files: { '/etc/redhat-release': 'Fedora release 39 (39)\n' }, is: ['fedora', 'fedora', '39'] },
  {
    what: 'Slackware',
    files: { '/etc/slackware-version': 'Slackware 15.0\n' },
    is: ['slackware', 'slackware', '15.0'],
  },
  {
    what: 'Gentoo',
    files: { '/etc/gentoo-release': 'Gentoo Base System release 2.14\n' },
    is: ['gentoo', 'gentoo', '2.14'],
  },
  {
    what: 'openSUSE of old',
    files: { '/etc/SuSE-release': 'openSUSE 13.2 (x86_64)\nVERSION = 13.2\nCODENAME = Harlequin\n' },
    is: ['opensuse', 'suse', '13.2'],
  },
  {
    what: 'SUSE Linux Enterprise of old',
    files: { '/etc/SuSE-release': 'SUSE Linux Enterprise Server 11 (x86_64)\nVERSION = 11\nPATCHLEVEL = 4\n' },
    is: ['sles', 'suse', '11'],
  },
  {
    what: 'Arch',
    files: { '/etc/arch-release': '', '/etc/os-release': 'ID=arch\nBUILD_ID=rolling\n' },
    is: ['arch', 'arch', 'rolling'],
  },
  {
    what: 'one that has only lsb-release',
    files: { '/etc/lsb-release': 'DISTRIB_ID=Solus\nDISTRIB_RELEASE=4.4\n' },
    is: ['solus', 'solus', '4.4'],
  },
  {
    what: 'Oracle, which also looks like Red Hat',
    files: {
      '/etc/oracle-release': 'Oracle Linux Server release 8.8\n',
      '/etc/redhat-release': 'Red Hat Enterprise Linux release 8.8\n',
    },
    is: ['oracle', 'rhel', '8.8'],
  },
  { what: 'Alpine', files: { '/etc/alpine-release': '3.19.1\n' }, is: ['alpine', 'alpine', '3.19.1'] },
  {
    what: 'one with an os-release only',
    files: { '/etc/os-release': 'NAME="Arch Linux"\nID=arch\nVERSION_ID="1"\n' },
    is: ['arch', 'arch', '1'],
  },
  { what: 'an unknown one', files: {}, is: ['', '', ''] },
];

describe('the platform of a Linux system', () => {
  for (const { what, files, is } of CASES) {
    it(`is detected for ${what}`, async () => {
      const { platform, platform_family, platform_version } = await linuxPlatform((path) =>
        Promise.resolve(files[path]),
      );
      expect([platform, platform_family, platform_version]).to.deep.equal(is);
    });
  }
});

import { expect } from 'chai';
import { darwinPlatform } from '../../../src/agent/system/darwin.ts';
import { parseFreebsdInfo } from '../../../src/agent/system/freebsd.ts';
import { parseWindowsInfo, windowsInterfaces } from '../../../src/agent/system/windows.ts';

describe('the platform of macOS', () => {
  for (const { output, is } of [
    {
      output: 'ProductName:\t\tmacOS\nProductVersion:\t\t14.4.1\nBuildVersion:\t\t23E224\n',
      is: ['darwin', 'Standalone Workstation', '14.4.1'],
    },
    {
      output: 'ProductName:\tMac OS X\nProductVersion:\t10.15.7\nBuildVersion:\t19H2\n',
      is: ['darwin', 'Standalone Workstation', '10.15.7'],
    },
    {
      output: 'ProductName:\tMac OS X Server\nProductVersion:\t10.6.8\nBuildVersion:\t10K549\n',
      is: ['darwin', 'Server', '10.6.8'],
    },
    { output: '', is: ['darwin', 'Standalone Workstation', ''] },
  ]) {
    it(`is ${is.join(', ')}`, () => {
      expect(Object.values(darwinPlatform(output))).to.deep.equal(is);
    });
  }
});

describe('the system information of FreeBSD', () => {
  for (const { guest, is } of [
    { guest: 'none', is: ['', ''] },
    { guest: 'kvm', is: ['kvm', 'guest'] },
    { guest: 'vmware', is: ['vmware', 'guest'] },
    { guest: 'bhyve', is: ['', ''] },
  ]) {
    it(`are its release, no family and the hypervisor ${guest}`, () => {
      const output = `kern.ostype: FreeBSD\nkern.osrelease: 14.0-RELEASE-p6\nkern.vm_guest: ${guest}\n`;
      expect(parseFreebsdInfo(output)).to.deep.equal({
        platform: 'freebsd',
        platform_family: '',
        platform_version: '14.0-release-p6',
        vm_system: is[0],
        vm_role: is[1],
        libc_type: '',
      });
    });
  }

  it('have no version when sysctl cannot be run', () => {
    expect(parseFreebsdInfo('')).to.include({ platform: 'freebsd', platform_version: '', vm_system: '' });
  });
});

describe('the system information of Windows', () => {
  for (const { what, reported, is } of [
    {
      what: 'a server in VMware',
      reported: {
        Caption: 'Microsoft Windows Server 2019 Datacenter',
        Version: '10.0.17763',
        BuildNumber: '17763',
        ProductType: 3,
        Manufacturer: 'VMware, Inc.',
        Model: 'VMware7,1',
      },
      is: ['Microsoft Windows Server 2019 Datacenter', 'Server', '10.0.17763 Build 17763', 'vmware', 'guest'],
    },
    {
      what: 'a domain controller in KVM',
      reported: {
        Caption: 'Microsoft Windows Server 2022 Standard ',
        Version: '10.0.20348',
        BuildNumber: '20348',
        ProductType: 2,
        Manufacturer: 'QEMU',
        Model: 'Standard PC (Q35 + ICH9, 2009)',
      },
      is: [
        'Microsoft Windows Server 2022 Standard',
        'Server (Domain Controller)',
        '10.0.20348 Build 20348',
        'kvm',
        'guest',
      ],
    },
    {
      what: 'a workstation',
      reported: {
        Caption: 'Microsoft Windows 11 Pro',
        Version: '10.0.22631',
        BuildNumber: '22631',
        ProductType: 1,
        Manufacturer: 'LENOVO',
        Model: '21HM',
      },
      is: ['Microsoft Windows 11 Pro', 'Standalone Workstation', '10.0.22631 Build 22631', '', ''],
    },
    { what: 'a system that reports nothing', reported: null, is: ['', '', '', '', ''] },
  ]) {
    it(`are those of ${what}`, () => {
      const facts = parseWindowsInfo(JSON.stringify(reported));
      const { platform, platform_family, platform_version, vm_system, vm_role } = facts;
      expect([platform, platform_family, platform_version, vm_system, vm_role]).to.deep.equal(is);
    });
  }

  it('are empty without PowerShell', () => {
    expect(parseWindowsInfo('')).to.include({ platform: '', platform_version: '' });
  });

  it('list the adapters without an address beside those that Node.js knows', () => {
    const { adapters } = parseWindowsInfo(
      JSON.stringify({
        Adapters: [
          { Name: 'Ethernet', MacAddress: '00-50-56-AA-BB-CC' },
          { Name: 'Wi-Fi', MacAddress: 'A0-B1-C2-D3-E4-F5' },
        ],
      }),
    );
    const addressed = new Map([
      ['Ethernet', { name: 'Ethernet', mac: '00:50:56:aa:bb:cc', addresses: ['10.0.0.5/24'] }],
      ['Loopback Pseudo-Interface 1', { name: 'Loopback Pseudo-Interface 1', mac: '', addresses: ['127.0.0.1/8'] }],
    ]);
    expect(windowsInterfaces(adapters, addressed)).to.deep.equal([
      { name: 'Ethernet', mac: '00:50:56:aa:bb:cc', addresses: ['10.0.0.5/24'] },
      { name: 'Wi-Fi', mac: 'a0:b1:c2:d3:e4:f5', addresses: [] },
      { name: 'Loopback Pseudo-Interface 1', mac: '', addresses: ['127.0.0.1/8'] },
    ]);
  });
});

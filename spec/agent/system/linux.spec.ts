import { expect } from 'chai';
import { libcTypeIn } from '../../../src/agent/system/linux.ts';
import { linuxInterfaces } from '../../../src/agent/system/interfaces.ts';
import { systemTools } from '../../../src/agent/system/system-tools.ts';

describe('the C library of a Linux system', () => {
  for (const { what, output, is } of [
    {
      what: 'Debian',
      output: 'ldd (Debian GLIBC 2.36-9+deb12u4) 2.36\nCopyright (C) 2022 Free Software Foundation, Inc.\n',
      is: 'glibc',
    },
    { what: 'Rocky', output: 'ldd (GNU libc) 2.34\n', is: 'glibc' },
    { what: 'Alpine', output: 'musl libc (x86_64)\nVersion 1.2.4\nDynamic Program Loader\n', is: 'musl' },
    { what: 'a system without ldd', output: '', is: '' },
  ]) {
    it(`is detected for ${what}`, () => expect(libcTypeIn(output)).to.equal(is));
  }
});

describe('the network interfaces of a Linux system', () => {
  it('include the loopback interface, without a MAC address', async () => {
    const loopback = (await linuxInterfaces(systemTools)).find(({ name }) => name === 'lo');
    expect(loopback).to.include({ mac: '' });
    expect(loopback?.addresses).to.include('127.0.0.1/8');
  });
});

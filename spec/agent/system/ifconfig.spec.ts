import { expect } from 'chai';
import { interfacesIn } from '../../../src/agent/system/ifconfig.ts';

const MACOS = `lo0: flags=8049<UP,LOOPBACK,RUNNING,MULTICAST> mtu 16384
\toptions=1203<RXCSUM,TXCSUM,TXSTATUS,SW_TIMESTAMP>
\tinet 127.0.0.1 netmask 0xff000000
\tinet6 ::1 prefixlen 128
\tinet6 fe80::1%lo0 prefixlen 64 scopeid 0x1
\tnd6 options=201<PERFORMNUD,DAD>
gif0: flags=8010<POINTOPOINT,MULTICAST> mtu 1280
en0: flags=8863<UP,BROADCAST,SMART,RUNNING,SIMPLEX,MULTICAST> mtu 1500
\toptions=6463<RXCSUM,TXCSUM,TSO4,TSO6,CHANNEL_IO,PARTIAL_CSUM,ZEROINVERT_CSUM>
\tether 3C:22:fb:11:22:33
\tinet6 fe80::8e5:f2ff:fe01:1%en0 prefixlen 64 secured scopeid 0xb
\tinet 192.168.1.23 netmask 0xffffff00 broadcast 192.168.1.255
\tmedia: autoselect
\tstatus: active
utun3: flags=8051<UP,POINTOPOINT,RUNNING,MULTICAST> mtu 1380
\tinet 10.8.0.6 --> 10.8.0.5 netmask 0xffffffff
`;

const FREEBSD = `vtnet0: flags=8863<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500
\toptions=4c07bb<RXCSUM,TXCSUM,VLAN_MTU,VLAN_HWTAGGING,JUMBO_MTU,TSO4,TSO6>
\tether 58:9c:fc:00:00:01
\tinet 10.0.2.15 netmask 0xfffffe00 broadcast 10.0.3.255
\tmedia: Ethernet autoselect (10Gbase-T <full-duplex>)
lo0: flags=8049<UP,LOOPBACK,RUNNING,MULTICAST> metric 0 mtu 16384
\tinet6 ::1 prefixlen 128
\tinet6 fe80::1%lo0 prefixlen 64 scopeid 0x2
\tinet 127.0.0.1 netmask 0xff000000
\tgroups: lo
`;

describe('the network interfaces that ifconfig prints', () => {
  for (const { what, output, are } of [
    {
      what: 'macOS',
      output: MACOS,
      are: [
        { name: 'lo0', mac: '', addresses: ['127.0.0.1/8', '::1/128', 'fe80::1/64'] },
        { name: 'gif0', mac: '', addresses: [] },
        { name: 'en0', mac: '3c:22:fb:11:22:33', addresses: ['fe80::8e5:f2ff:fe01:1/64', '192.168.1.23/24'] },
        { name: 'utun3', mac: '', addresses: ['10.8.0.6/32'] },
      ],
    },
    {
      what: 'FreeBSD',
      output: FREEBSD,
      are: [
        { name: 'vtnet0', mac: '58:9c:fc:00:00:01', addresses: ['10.0.2.15/23'] },
        { name: 'lo0', mac: '', addresses: ['::1/128', 'fe80::1/64', '127.0.0.1/8'] },
      ],
    },
    { what: 'a system without the program', output: '', are: [] },
  ]) {
    it(`are those of ${what}`, () => expect(interfacesIn(output)).to.deep.equal(are));
  }
});

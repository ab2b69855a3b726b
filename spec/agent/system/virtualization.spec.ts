import { expect } from 'chai';
import { linuxVirtualization } from '../../../src/agent/system/virtualization.ts';

const VIRTIO = '0008\t1af41045\t0\tvirtio-pci\n';

const CASES: { what: string; files: Record<string, string>; is: [string, string] }[] = [
  { what: 'a machine of its own', files: { '/proc/modules': 'ext4 1 0 - Live\n', '/proc/cpuinfo': '' }, is: ['', ''] },
  { what: 'a guest of Xen', files: { '/proc/xen/capabilities': '' }, is: ['xen', 'guest'] },
  { what: 'a host of Xen', files: { '/proc/xen/capabilities': 'control_d\n' }, is: ['xen', 'host'] },
  { what: 'a host of KVM', files: { '/proc/modules': 'kvm_amd 1 0\nkvm 1 1 kvm_amd\n' }, is: ['kvm', 'host'] },
  { what: 'a guest of KVM', files: { '/proc/cpuinfo': 'model name\t: QEMU Virtual CPU\n' }, is: ['kvm', 'guest'] },
  {
    what: 'a guest of KVM that could be a host',
    files: { '/proc/modules': 'kvm 1 1\n', '/proc/bus/pci/devices': VIRTIO },
    is: ['kvm', 'guest'],
  },
  { what: 'a guest of an unknown hypervisor', files: { '/proc/bus/pci/devices': VIRTIO }, is: ['', 'guest'] },
  { what: 'a guest of VirtualBox', files: { '/proc/modules': 'vboxguest 1 0\n' }, is: ['vbox', 'guest'] },
  { what: 'a host of VirtualBox', files: { '/proc/modules': 'vboxdrv 1 0\n' }, is: ['vbox', 'host'] },
  { what: 'a guest of VMware', files: { '/proc/modules': 'vmw_balloon 1 0\n' }, is: ['vmware', 'guest'] },
  { what: 'a guest of OpenVZ', files: { '/proc/vz/version': '1' }, is: ['openvz', 'guest'] },
  {
    what: 'a host of OpenVZ',
    files: { '/proc/vz/version': '1', '/proc/bc/0/resources': '' },
    is: ['openvz', 'host'],
  },
  {
    what: 'a guest of VServer',
    files: { '/proc/self/status': 'Name:\tx\nVxID:\t12\n' },
    is: ['linux-vserver', 'guest'],
  },
  { what: 'a container of LXC', files: { '/proc/1/environ': 'A=b\0container=lxc\0' }, is: ['lxc', 'guest'] },
  { what: 'a container of rkt', files: { '/proc/self/cgroup': '1:x:/machine-rkt/1\n' }, is: ['rkt', 'guest'] },
  {
    what: 'a container of Docker in a guest of KVM',
    files: { '/proc/cpuinfo': 'QEMU Virtual CPU', '/proc/self/cgroup': '1:name=systemd:/docker/1f\n' },
    is: ['docker', 'guest'],
  },
  {
    what: 'a container of Docker with one hierarchy of control groups',
    files: {
      '/proc/self/cgroup': '0::/\n',
      '/proc/self/mountinfo': '1 2 8:1 /var/lib/docker/containers/1f/hostname /etc/hostname rw - ext4 /dev/sda rw\n',
    },
    is: ['docker', 'guest'],
  },
  {
    what: 'a host of Docker, which has the same directories',
    files: { '/proc/self/mountinfo': '1 2 0:50 / /var/lib/docker/containers/1f/mounts/shm rw - tmpfs shm rw\n' },
    is: ['', ''],
  },
];

describe('the virtualization of a Linux machine', () => {
  for (const { what, files, is } of CASES) {
    it(`is detected for ${what}`, async () => {
      const { vm_system: system, vm_role: role } = await linuxVirtualization((path) => Promise.resolve(files[path]));
      expect([system, role]).to.deep.equal(is);
    });
  }
});

import { NOT_VIRTUAL, type Virtualization } from './machine-info.ts';
import type { SystemTools } from './system-tools.ts';

const is = (system: string, role: 'guest' | 'host'): Virtualization => ({ vm_system: system, vm_role: role });

/** Later entries take precedence: a container is closer to this process than the virtual machine around it. */
const HINTS: readonly [path: string, pattern: RegExp, result: Partial<Virtualization>][] = [
  ['/proc/xen/capabilities', /^/, is('xen', 'guest')],
  ['/proc/xen/capabilities', /control_d/, is('xen', 'host')],
  ['/proc/modules', /^(vmware|vmw_)/m, is('vmware', 'guest')],
  ['/proc/modules', /^vboxguest\b/m, is('vbox', 'guest')],
  ['/proc/modules', /^vboxdrv\b/m, is('vbox', 'host')],
  ['/proc/modules', /^kvm\b/m, is('kvm', 'host')],
  ['/proc/cpuinfo', /QEMU Virtual CPU|Common (32-bit )?KVM processor/, is('kvm', 'guest')],
  ['/proc/bus/pci/devices', /\bvirtio-pci\b/, { vm_role: 'guest' }],
  ['/proc/vz/version', /^/, is('openvz', 'guest')],
  ['/proc/bc/0/resources', /^/, is('openvz', 'host')],
  ['/proc/self/status', /^(VxID|s_context):\s*0/m, is('linux-vserver', 'host')],
  ['/proc/self/status', /^(VxID|s_context):\s*[1-9]/m, is('linux-vserver', 'guest')],
  ['/proc/1/environ', /(^|\0)container=lxc/, is('lxc', 'guest')],
  ['/proc/self/cgroup', /lxc/, is('lxc', 'guest')],
  ['/proc/self/cgroup', /machine-rkt/, is('rkt', 'guest')],
  ['/proc/self/cgroup', /docker/, is('docker', 'guest')],
  // With cgroup v2 a container cannot see its own name in `/proc/self/cgroup`.
  ['/proc/self/mountinfo', /\/docker\/containers\/\S+\/hostname \/etc\/hostname /, is('docker', 'guest')],
];

/** Detects the virtualization of this machine from `/proc`, as far as it is readable without privileges. */
export async function linuxVirtualization(read: SystemTools['readText']): Promise<Virtualization> {
  const paths = [...new Set(HINTS.map(([path]) => path))];
  const texts = new Map(await Promise.all(paths.map(async (path) => [path, await read(path)] as const)));
  let found = NOT_VIRTUAL;
  for (const [path, pattern, result] of HINTS) {
    const text = texts.get(path);
    if (text !== undefined && pattern.test(text)) found = { ...found, ...result };
  }
  return found;
}

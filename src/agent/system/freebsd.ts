import { guestOf, type MachineInfo } from './machine-info.ts';
import type { SystemTools } from './system-tools.ts';

const VARIABLES = ['kern.ostype', 'kern.osrelease', 'kern.vm_guest'];

/** The hypervisors of `kern.vm_guest` that have a name in entities. */
const GUESTS = new Set(['xen', 'vmware', 'kvm', 'vbox']);

/** Parses the output of `sysctl kern.ostype kern.osrelease kern.vm_guest`. */
export function parseFreebsdInfo(output: string): MachineInfo {
  const settings = new Map(
    [...output.matchAll(/^([\w.]+): (.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
  const guest = settings.get('kern.vm_guest') ?? '';
  return {
    platform: settings.get('kern.ostype')?.toLowerCase() ?? 'freebsd',
    platform_family: '',
    platform_version: settings.get('kern.osrelease')?.toLowerCase() ?? '',
    ...guestOf(GUESTS.has(guest) ? guest : ''),
    libc_type: '',
  };
}

export async function freebsdInfo({ run }: SystemTools): Promise<MachineInfo> {
  return parseFreebsdInfo((await run('sysctl', VARIABLES)) ?? '');
}

/** The distribution or product. The fields are empty for an unknown one. */
export interface Platform {
  platform: string;
  platform_family: string;
  platform_version: string;
}

export interface Virtualization {
  /** `xen`, `kvm`, `vbox`, `vmware`, `openvz`, `lxc`, `docker`, `rkt`, `linux-vserver`, or empty. */
  vm_system: string;
  /** `guest`, `host`, or empty. */
  vm_role: string;
}

/** The properties of the machine that do not change while the agent runs. */
export interface MachineInfo extends Platform, Virtualization {
  /** `glibc` or `musl` on Linux; empty for others. */
  libc_type: string;
}

export interface Interface {
  name: string;
  /** In lower case with colons, or empty. */
  mac: string;
  /** In CIDR notation. */
  addresses: string[];
}

export const NOT_VIRTUAL: Virtualization = { vm_system: '', vm_role: '' };
export const guestOf = (system: string): Virtualization =>
  system === '' ? NOT_VIRTUAL : { vm_system: system, vm_role: 'guest' };

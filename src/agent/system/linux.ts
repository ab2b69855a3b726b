import type { MachineInfo } from './machine-info.ts';
import { linuxPlatform } from './platform.ts';
import type { SystemTools } from './system-tools.ts';
import { linuxVirtualization } from './virtualization.ts';

/** Detects the C library from the output of `ldd --version`; Musl prints it to standard error. */
export function libcTypeIn(lddOutput: string): string {
  const text = lddOutput.toLowerCase();
  if (text.includes('gnu') || text.includes('glibc')) return 'glibc';
  return text.includes('musl') ? 'musl' : '';
}

export async function linuxInfo({ readText, run }: SystemTools): Promise<MachineInfo> {
  const [platform, virtualization, ldd] = await Promise.all([
    linuxPlatform(readText),
    linuxVirtualization(readText),
    run('ldd', ['--version']),
  ]);
  return { ...platform, ...virtualization, libc_type: libcTypeIn(ldd ?? '') };
}

import { type MachineInfo, NOT_VIRTUAL, type Platform } from './machine-info.ts';
import type { SystemTools } from './system-tools.ts';

/** Parses the output of `sw_vers`. */
export function darwinPlatform(output: string): Platform {
  const [, product = ''] = /^ProductName:\s*(.*?)\s*$/m.exec(output) ?? [];
  const [, version = ''] = /^ProductVersion:\s*(\S+)/m.exec(output) ?? [];
  const family = product.includes('Server') ? 'Server' : 'Standalone Workstation';
  return { platform: 'darwin', platform_family: family, platform_version: version };
}

export async function darwinInfo({ run }: SystemTools): Promise<MachineInfo> {
  return { ...darwinPlatform((await run('sw_vers', [])) ?? ''), ...NOT_VIRTUAL, libc_type: '' };
}

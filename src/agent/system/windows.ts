import { addressedInterfaces } from './interfaces.ts';
import { guestOf, type Interface, type MachineInfo } from './machine-info.ts';
import type { SystemTools } from './system-tools.ts';

/** Starting PowerShell takes about a second, so the agent queries everything at once. */
const SCRIPT = [
  '$o = Get-CimInstance Win32_OperatingSystem',
  '$c = Get-CimInstance Win32_ComputerSystem',
  '$a = @(Get-NetAdapter | Sort-Object ifIndex | Select-Object Name, MacAddress)',
  '[Console]::OutputEncoding = [Text.Encoding]::UTF8',
  '@{ Caption = $o.Caption; Version = $o.Version; BuildNumber = $o.BuildNumber; ProductType = $o.ProductType;' +
    ' Manufacturer = $c.Manufacturer; Model = $c.Model; Adapters = $a } | ConvertTo-Json -Compress',
].join('; ');

/** `Win32_OperatingSystem.ProductType` */
const FAMILIES: Record<number, string> = { 1: 'Standalone Workstation', 2: 'Server (Domain Controller)', 3: 'Server' };

/** Patterns of the manufacturer and the model of a virtual machine. */
const HYPERVISORS: readonly [pattern: RegExp, system: string][] = [
  [/vmware/i, 'vmware'],
  [/innotek|virtualbox/i, 'vbox'],
  [/\bxen\b|HVM domU/i, 'xen'],
  [/qemu|kvm/i, 'kvm'],
];

interface Reported {
  Caption?: string | null;
  Version?: string | null;
  BuildNumber?: string | null;
  ProductType?: number | null;
  Manufacturer?: string | null;
  Model?: string | null;
  Adapters?: readonly { Name?: string | null; MacAddress?: string | null }[] | null;
}

export interface WindowsInfo extends MachineInfo {
  /** All adapters, without addresses. */
  adapters: readonly Interface[];
}

function reportedIn(output: string): Reported {
  try {
    return (JSON.parse(output) as Reported | null) ?? {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

/** Parses the output of the script. The fields are empty when it is not JSON, as for a system without PowerShell. */
export function parseWindowsInfo(output: string): WindowsInfo {
  const { Caption, Version, BuildNumber, ProductType, Manufacturer, Model, Adapters } = reportedIn(output);
  const maker = `${Manufacturer ?? ''} ${Model ?? ''}`;
  const [, system = ''] = HYPERVISORS.find(([pattern]) => pattern.test(maker)) ?? [];
  return {
    platform: Caption?.trim() ?? '',
    platform_family: FAMILIES[ProductType ?? 0] ?? '',
    platform_version: Version ? `${Version} Build ${BuildNumber ?? ''}`.trimEnd() : '',
    ...guestOf(system),
    libc_type: '',
    adapters: (Adapters ?? []).map(({ Name, MacAddress }) => ({
      name: Name ?? '',
      mac: MacAddress?.replaceAll('-', ':').toLowerCase() ?? '',
      addresses: [],
    })),
  };
}

export async function windowsInfo({ run }: SystemTools): Promise<WindowsInfo> {
  const args = ['-NoProfile', '-NonInteractive', '-Command', SCRIPT];
  return parseWindowsInfo((await run('powershell.exe', args)) ?? '');
}

/** Adds the adapters without an address to those that have one. */
export function windowsInterfaces(adapters: readonly Interface[], addressed = addressedInterfaces()): Interface[] {
  const known = new Map([...adapters.map((adapter) => [adapter.name, adapter] as const), ...addressed]);
  return [...known.values()];
}

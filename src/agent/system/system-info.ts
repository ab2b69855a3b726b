import { arch, endianness, hostname, platform, release } from 'node:os';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { type System, systemWithDefaults } from '../../resources/entity.ts';
import { cloudProvider, METADATA_ENDPOINTS, type MetadataEndpoints } from './cloud.ts';
import { darwinInfo } from './darwin.ts';
import { freebsdInfo } from './freebsd.ts';
import { interfacesIn } from './ifconfig.ts';
import { addressedInterfaces, linuxInterfaces } from './interfaces.ts';
import { linuxInfo } from './linux.ts';
import { type Interface, type MachineInfo, NOT_VIRTUAL, type Platform } from './machine-info.ts';
import { linuxPlatform } from './platform.ts';
import { systemTools, type SystemTools } from './system-tools.ts';
import { windowsInfo, windowsInterfaces } from './windows.ts';

const REFRESH_MS = 20_000;

/** Names of the Go platform, which agents send. */
const OS_NAMES: Partial<Record<NodeJS.Platform, string>> = { win32: 'windows', sunos: 'solaris' };
const ARCH_NAMES: Partial<Record<string, string>> = { x64: 'amd64', ia32: '386', mipsel: 'mipsle' };

export interface SystemSettings {
  /** Whether the agent detects the cloud that it runs in. */
  readonly detectsCloud: boolean;
  /** Whether the entity lists the network interfaces. */
  readonly showsNetworks: boolean;
}

/** One kind of system. */
interface Source {
  /** Read once. */
  info: MachineInfo;
  /** Read at each refresh where that is cheap: an upgrade of the system changes it. */
  platform?(): Promise<Platform>;
  interfaces(): Promise<readonly Interface[]> | readonly Interface[];
}

function archName(): string {
  if (arch() === 'ppc64') return endianness() === 'LE' ? 'ppc64le' : 'ppc64';
  return ARCH_NAMES[arch()] ?? arch();
}

/** Processor variant, for architectures whose name does not include it. */
function processorInfo(): { arm_version?: number; float_type?: string } {
  const built = process.config.variables as Record<string, unknown>;
  if (arch() === 'arm') return { arm_version: Number(built['arm_version']) || 7 };
  if (!arch().startsWith('mips')) return {};
  return { float_type: built['mips_float_abi'] === 'soft' ? 'softfloat' : 'hardfloat' };
}

const osName = (): string => OS_NAMES[platform()] ?? platform();

/** The interfaces as `ifconfig` prints them; those that Node.js lists if the program fails. */
async function ifconfigInterfaces({ run }: SystemTools): Promise<readonly Interface[]> {
  const found = interfacesIn((await run('ifconfig', ['-a'])) ?? '');
  return found.length > 0 ? found : [...addressedInterfaces().values()];
}

const SOURCES: Partial<Record<NodeJS.Platform, (tools: SystemTools) => Promise<Source>>> = {
  linux: async (tools) => ({
    info: await linuxInfo(tools),
    platform: () => linuxPlatform(tools.readText),
    interfaces: () => linuxInterfaces(tools),
  }),
  win32: async (tools) => {
    const { adapters, ...info } = await windowsInfo(tools);
    return { info, interfaces: () => windowsInterfaces(adapters) };
  },
  darwin: async (tools) => ({ info: await darwinInfo(tools), interfaces: () => ifconfigInterfaces(tools) }),
  freebsd: async (tools) => ({ info: await freebsdInfo(tools), interfaces: () => ifconfigInterfaces(tools) }),
};

async function otherSource(tools: SystemTools): Promise<Source> {
  const named = { platform: osName(), platform_family: '', platform_version: release() };
  return { info: { ...named, ...NOT_VIRTUAL, libc_type: '' }, interfaces: () => ifconfigInterfaces(tools) };
}

/**
 * Information about the machine. The host name, the network and the version of a Linux distribution are read again every 20 s, in
 * the background. The rest does not change while the agent runs.
 */
export class SystemInfo {
  readonly #settings: SystemSettings;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #tools: SystemTools;
  readonly #endpoints: MetadataEndpoints;
  #current: System = systemWithDefaults(null);
  #source: Source | undefined;
  #provider: string | undefined;
  #cancel = (): void => undefined;
  #stopped = false;

  constructor(
    settings: SystemSettings,
    { clock, log }: { clock: Clock; log: Log },
    { tools = systemTools, endpoints = METADATA_ENDPOINTS } = {},
  ) {
    this.#settings = settings;
    this.#clock = clock;
    this.#log = log;
    this.#tools = tools;
    this.#endpoints = endpoints;
  }

  get current(): System {
    return this.#current;
  }

  /** Resolves after the first reading, even if it fails. Programs and metadata services delay it by 5 s at most. */
  async start(): Promise<void> {
    await this.#read().catch((error: unknown) => {
      this.#log.error({ err: error }, 'failed to read system information');
    });
    if (!this.#stopped) this.#cancel = this.#clock.after(REFRESH_MS, () => void this.start());
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  async #read(): Promise<void> {
    const [source, provider] = await Promise.all([
      this.#source ?? (SOURCES[platform()] ?? otherSource)(this.#tools),
      this.#provider ?? (this.#settings.detectsCloud ? this.#detectCloud() : ''),
    ]);
    this.#source = source;
    this.#provider = provider;
    this.#current = systemWithDefaults({
      hostname: hostname() || 'unidentified-hostname',
      os: osName(),
      arch: archName(),
      ...processorInfo(),
      ...source.info,
      ...(await source.platform?.()),
      cloud_provider: provider,
      network: { interfaces: this.#settings.showsNetworks ? [...(await source.interfaces())] : [] },
    });
  }

  async #detectCloud(): Promise<string> {
    const provider = await cloudProvider(this.#tools, this.#clock, this.#endpoints);
    this.#log.info(
      { 'cloud-provider': provider },
      provider === '' ? 'no cloud provider detected' : 'cloud provider detected',
    );
    return provider;
  }
}

import { readdir, readFile } from 'node:fs/promises';
import { arch, endianness, hostname, networkInterfaces, platform, release } from 'node:os';
import { runCommand } from '../exec/process-group.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { type System, systemWithDefaults } from '../resources/entity.ts';
import { linuxPlatform, type Platform } from './platform.ts';
import { linuxVirtualization } from './virtualization.ts';

const REFRESH_MS = 20_000;
const LDD_TIMEOUT_MS = 5_000;
const INTERFACES_DIR = '/sys/class/net';
const NO_MAC = '00:00:00:00:00:00';

/** Names of the Go platform, which agents send. */
const OS_NAMES: Partial<Record<NodeJS.Platform, string>> = { win32: 'windows', sunos: 'solaris' };
const ARCH_NAMES: Partial<Record<string, string>> = { x64: 'amd64', ia32: '386', mipsel: 'mipsle' };

interface Interface {
  name: string;
  mac: string;
  addresses: string[];
}

/** Undefined when the file does not exist or is not readable. */
async function readText(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
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

/** All interfaces in the order of the system, including those that are down or without an address. */
async function interfaces(): Promise<Interface[]> {
  const addressed = networkInterfaces();
  const present = platform() === 'linux' ? await readdir(INTERFACES_DIR).catch(() => []) : [];
  const names = [...new Set([...present, ...Object.keys(addressed)])];
  const found = await Promise.all(
    names.map(async (name) => {
      const known = addressed[name] ?? [];
      const mac = known[0]?.mac ?? (await readText(`${INTERFACES_DIR}/${name}/address`))?.trim() ?? '';
      const addresses = known.flatMap(({ cidr }) => (cidr === null ? [] : [cidr]));
      const order = Number(await readText(`${INTERFACES_DIR}/${name}/ifindex`));
      return { order, shown: { name, mac: mac === NO_MAC ? '' : mac.toLowerCase(), addresses } };
    }),
  );
  return found.toSorted((one, other) => one.order - other.order).map(({ shown }) => shown);
}

async function libcType(clock: Clock): Promise<string> {
  if (platform() !== 'linux') return '';
  const { output } = await runCommand({ command: 'ldd --version', timeoutMs: LDD_TIMEOUT_MS }, clock);
  const text = output.toLowerCase();
  if (text.includes('gnu') || text.includes('glibc')) return 'glibc';
  return text.includes('musl') ? 'musl' : '';
}

const platformInfo = async (): Promise<Platform> =>
  platform() === 'linux'
    ? linuxPlatform(readText)
    : { platform: OS_NAMES[platform()] ?? platform(), platform_family: '', platform_version: release() };

/** Information about the machine, refreshed every 20 s in the background. */
export class SystemInfo {
  readonly #clock: Clock;
  readonly #log: Log;
  #current: System = systemWithDefaults(null);
  #libcType: string | undefined;
  #cancel = (): void => undefined;
  #stopped = false;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  get current(): System {
    return this.#current;
  }

  /** Resolves after the first reading, even if it fails. */
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
    // The C library cannot change while the process runs.
    this.#libcType ??= await libcType(this.#clock);
    this.#current = systemWithDefaults({
      hostname: hostname() || 'unidentified-hostname',
      os: OS_NAMES[platform()] ?? platform(),
      arch: archName(),
      ...processorInfo(),
      ...(await platformInfo()),
      ...(platform() === 'linux' ? await linuxVirtualization(readText) : {}),
      network: { interfaces: await interfaces() },
      libc_type: this.#libcType,
    });
  }
}

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

/** Names of Go, which every agent uses on the wire. */
const OS_NAMES: Partial<Record<NodeJS.Platform, string>> = { win32: 'windows', sunos: 'solaris' };
const ARCH_NAMES: Partial<Record<string, string>> = { x64: 'amd64', ia32: '386', mipsel: 'mipsle' };

interface Interface {
  name: string;
  mac: string;
  addresses: string[];
}

/** Undefined when there is no such file, or when it may not be read. */
async function readText(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}

function archName(): string {
  if (arch() === 'ppc64') return endianness() === 'LE' ? 'ppc64le' : 'ppc64';
  return ARCH_NAMES[arch()] ?? arch();
}

/** What the processor is, where the name of its architecture does not say it; absent elsewhere. */
function processorFacts(): { arm_version?: number; float_type?: string } {
  const built = process.config.variables as Record<string, unknown>;
  if (arch() === 'arm') return { arm_version: Number(built['arm_version']) || 7 };
  if (!arch().startsWith('mips')) return {};
  return { float_type: built['mips_float_abi'] === 'soft' ? 'softfloat' : 'hardfloat' };
}

/** All interfaces, also those that are down or have no address. */
async function interfaces(): Promise<Interface[]> {
  const addressed = networkInterfaces();
  const present = platform() === 'linux' ? await readdir(INTERFACES_DIR).catch(() => []) : [];
  const names = [...new Set([...present, ...Object.keys(addressed)])];
  return Promise.all(
    names.map(async (name) => {
      const known = addressed[name] ?? [];
      const mac = known[0]?.mac ?? (await readText(`${INTERFACES_DIR}/${name}/address`))?.trim() ?? '';
      const addresses = known.flatMap(({ cidr }) => (cidr === null ? [] : [cidr]));
      return { name, mac: mac === NO_MAC ? '' : mac.toLowerCase(), addresses };
    }),
  );
}

async function libcType(clock: Clock): Promise<string> {
  if (platform() !== 'linux') return '';
  const { output } = await runCommand({ command: 'ldd --version', timeoutMs: LDD_TIMEOUT_MS }, clock);
  const text = output.toLowerCase();
  if (text.includes('gnu') || text.includes('glibc')) return 'glibc';
  return text.includes('musl') ? 'musl' : '';
}

const platformFacts = async (): Promise<Platform> =>
  platform() === 'linux'
    ? linuxPlatform(readText)
    : { platform: OS_NAMES[platform()] ?? platform(), platform_family: '', platform_version: release() };

/** What the machine says of itself, read again every 20 s without holding anybody up. */
export class SystemFacts {
  readonly #clock: Clock;
  readonly #log: Log;
  #facts: System = systemWithDefaults(null);
  #libcType: string | undefined;
  #cancel = (): void => undefined;
  #stopped = false;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  get current(): System {
    return this.#facts;
  }

  /** Done after the first reading, whether it succeeded or not. */
  async start(): Promise<void> {
    await this.#read().catch((error: unknown) => {
      this.#log.error({ err: error }, 'system facts could not be read');
    });
    if (!this.#stopped) this.#cancel = this.#clock.after(REFRESH_MS, () => void this.start());
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  async #read(): Promise<void> {
    // The C library does not change while this program runs on it.
    this.#libcType ??= await libcType(this.#clock);
    this.#facts = systemWithDefaults({
      hostname: hostname() || 'unidentified-hostname',
      os: OS_NAMES[platform()] ?? platform(),
      arch: archName(),
      ...processorFacts(),
      ...(await platformFacts()),
      ...(platform() === 'linux' ? await linuxVirtualization(readText) : {}),
      network: { interfaces: await interfaces() },
      libc_type: this.#libcType,
    });
  }
}

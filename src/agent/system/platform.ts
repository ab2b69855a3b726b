import type { Platform } from './machine-info.ts';
import type { SystemTools } from './system-tools.ts';

type ReadText = SystemTools['readText'];

const FAMILIES: Record<string, readonly string[]> = {
  debian: ['debian', 'ubuntu', 'linuxmint', 'raspbian'],
  fedora: ['fedora'],
  rhel: ['oracle', 'centos', 'redhat', 'scientific', 'amazon', 'xenserver', 'cloudlinux', 'rocky', 'almalinux'],
  suse: ['suse', 'opensuse', 'opensuse-leap', 'opensuse-tumbleweed', 'sles', 'sled', 'caasp'],
  gentoo: ['gentoo'],
  slackware: ['slackware'],
  arch: ['arch'],
  alpine: ['alpine'],
  coreos: ['coreos'],
  solus: ['solus'],
  exherbo: ['exherbo'],
};

/** Platform names that differ from `ID` in os-release. */
const OS_RELEASE_NAMES: Record<string, string> = { rhel: 'redhat', ol: 'oracle', amzn: 'amazon' };

/** Parses `NAME=value` lines and removes quotes. */
function settingsOf(text: string | undefined): Map<string, string> {
  const lines = text?.matchAll(/^\s*([A-Z_]+)=["']?(.*?)["']?\s*$/gm) ?? [];
  return new Map([...lines].map(([, name = '', value = '']) => [name, value]));
}

function named(platform: string, version: string): Platform {
  const family = Object.keys(FAMILIES).find((name) => FAMILIES[name]?.includes(platform));
  return { platform, platform_family: family ?? '', platform_version: version };
}

const releaseIn = (text: string): string => /release (\d[\d.]*)/.exec(text)?.[1] ?? '';

function fromRedhatRelease(text: string): Platform {
  const words = text.trim().toLowerCase();
  return named(words.includes('red hat') ? 'redhat' : (words.split(/\s+/)[0] ?? ''), releaseIn(words));
}

async function fromDebianVersion(text: string, read: ReadText): Promise<Platform> {
  const lsb = settingsOf(await read('/etc/lsb-release'));
  const id = lsb.get('DISTRIB_ID')?.toLowerCase() ?? '';
  if (id === 'ubuntu' || id === 'linuxmint') return named(id, lsb.get('DISTRIB_RELEASE') ?? '');
  const raspbian = (await read('/usr/bin/raspi-config')) !== undefined;
  return named(raspbian ? 'raspbian' : 'debian', text.trim());
}

function fromOsRelease(text: string): Platform {
  const settings = settingsOf(text);
  const id = settings.get('ID') ?? '';
  return named(OS_RELEASE_NAMES[id] ?? id, settings.get('VERSION_ID') ?? '');
}

async function fromArchRelease(_text: string, read: ReadText): Promise<Platform> {
  return named('arch', settingsOf(await read('/etc/os-release')).get('BUILD_ID') ?? '');
}

/** Parses `openSUSE 13.2 (x86_64)` followed by `VERSION = 13.2`; SUSE Linux Enterprise writes its full name. */
function fromSuseRelease(text: string): Platform {
  const version = /^VERSION\s*=\s*(\S+)/m.exec(text)?.[1] ?? '';
  return named(/^opensuse/i.test(text) ? 'opensuse' : /desktop/i.test(text) ? 'sled' : 'sles', version);
}

const versionIn = (text: string): string => /\d[\d.]*/.exec(text)?.[0] ?? '';

function fromLsbRelease(text: string): Platform {
  const settings = settingsOf(text);
  return named(settings.get('DISTRIB_ID')?.toLowerCase() ?? '', settings.get('DISTRIB_RELEASE') ?? '');
}

/** The first existing file determines the platform. */
const SOURCES: readonly [path: string, parse: (text: string, read: ReadText) => Platform | Promise<Platform>][] = [
  ['/etc/oracle-release', (text) => named('oracle', releaseIn(text))],
  ['/etc/enterprise-release', (text) => named('oracle', releaseIn(text))],
  ['/etc/slackware-version', (text) => named('slackware', versionIn(text))],
  ['/etc/debian_version', fromDebianVersion],
  ['/etc/redhat-release', fromRedhatRelease],
  ['/etc/system-release', fromRedhatRelease],
  ['/etc/gentoo-release', (text) => named('gentoo', versionIn(text))],
  ['/etc/SuSE-release', fromSuseRelease],
  ['/etc/arch-release', fromArchRelease],
  ['/etc/alpine-release', (text) => named('alpine', text.trim())],
  ['/etc/os-release', fromOsRelease],
  ['/etc/lsb-release', fromLsbRelease],
];

/** Detects the Linux distribution from its release files. The fields are empty for an unknown one. */
export async function linuxPlatform(read: ReadText): Promise<Platform> {
  for (const [path, parse] of SOURCES) {
    const text = await read(path);
    if (text !== undefined) return parse(text, read);
  }
  return named('', '');
}

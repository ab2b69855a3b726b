import { agentFlags } from '../../src/config/flags/agent-flags.ts';
import { initFlags, upgradeFlags } from '../../src/config/flags/command-flags.ts';
import type { Flag } from '../../src/config/parsing/flags.ts';
import { startFlags } from '../../src/config/flags/start-flags.ts';

type Flags = Readonly<Record<string, Flag<unknown>>>;

const AGENT_ON_LINUX = {
  hostname: 'the name of the host',
  configFile: '/etc/mon/agent.yml',
  cacheDir: '/var/cache/mon/mon-agent',
  logFile: '',
};

/** The programs, each with the table of flags that its help is made from. */
export const CONFIGURED: readonly { program: string; prefix: string; flags: Flags }[] = [
  { program: 'mon-backend start', prefix: 'MON_BACKEND_', flags: startFlags },
  { program: 'mon-agent start', prefix: 'MON_', flags: agentFlags(AGENT_ON_LINUX) },
  { program: 'mon-backend init', prefix: 'MON_BACKEND_', flags: initFlags },
  { program: 'mon-backend upgrade', prefix: 'MON_BACKEND_', flags: upgradeFlags },
];

const INTRODUCTION = `# Configuration

<!-- Made from the tables of flags by "npm run configuration". -->

Each setting is a flag, an environment variable and a key of the configuration file. The flag wins over the variable, the
variable over the file, and the file over the default. The key of the file is the flag without its dashes. Lists are
separated by commas or, in the file, YAML lists; maps are \`key=value\` pairs or, in a variable, a JSON object.
Durations have a unit: \`15s\`, \`1m30s\`. [operate.md](operate.md) explains the settings by topic.
\`mon-backend help <command>\` lists the flags of the other commands.
`;

/** The page docs/configuration.md, before its lines are wrapped. */
export const configurationPage = (): string => [INTRODUCTION, ...CONFIGURED.map(sectionOf)].join('\n');

function sectionOf({ program, prefix, flags }: (typeof CONFIGURED)[number]): string {
  const groups = new Map<string, string[]>();
  const ignored = new Map<string, string[]>();
  for (const [name, flag] of Object.entries(flags)) {
    const { withoutEffect } = flag;
    if (withoutEffect !== undefined)
      ignored.set(withoutEffect, [...(ignored.get(withoutEffect) ?? []), `\`--${name}\``]);
    else groups.set(flag.group ?? '', [...(groups.get(flag.group ?? '') ?? []), itemOf(name, flag, prefix)]);
  }
  const lists = [...groups].map(
    ([group, items]) => `${group === '' ? '' : `### ${group} (\`${program}\`)\n\n`}${items.join('\n')}`,
  );
  const without = [...ignored].map(([reason, names]) => `- ${names.join(', ')}: ${reason}.`);
  return [
    `## \`${program}\``,
    ...lists,
    ...(without.length === 0 ? [] : [`Accepted without effect, with a warning:`, without.join('\n')]),
    '',
  ].join('\n\n');
}

function itemOf(
  name: string,
  { kind, fallback, about, short, secret, formerName }: Flag<unknown>,
  prefix: string,
): string {
  const value = kind.placeholder === undefined ? '' : ` <${kind.placeholder}>`;
  const names = [`\`--${name}${value}\``, ...(short === undefined ? [] : [`\`-${short}\``])].join(', ');
  const shown = secret === true ? '' : (kind.show?.(fallback) ?? String(fallback));
  const former = formerName === undefined ? '' : ` Its former name is \`--${formerName}\`.`;
  const rest = shown === '' || fallback === undefined ? '' : ` Default: \`${shown}\`.`;
  return `- ${names} (\`${prefix}${name.toUpperCase().replaceAll('-', '_')}\`): ${about}.${rest}${former}`;
}

import { expect } from 'chai';
import { parseAgentConfig } from '../../src/config/agent.ts';
import { parseBackendConfig } from '../../src/config/backend.ts';
import type { ConfigWarning, Parsed, Sources } from '../../src/config/parsing/flags.ts';
import { parseInitConfig } from '../../src/config/init.ts';
import { parseUpgradeConfig } from '../../src/config/upgrade.ts';
import { REFERENCE_AGENT_FLAGS, REFERENCE_BACKEND_FLAGS } from '../support/reference-flags.ts';
import { mistakesOf } from './mistakes.ts';
import { sources } from './sources.ts';
import { AGENT_HERE } from './agent-here.ts';

const MESSAGE = 'settings without effect';
const ADMIN = ['--cluster-admin-username=a', '--cluster-admin-password=12345678'];

const parseBackend = (given: Sources): Parsed<unknown> => parseBackendConfig(given);
const parseAgent = (given: Sources): Parsed<unknown> => parseAgentConfig(given, AGENT_HERE);

function warningsOf<T>(parse: (given: Sources) => Parsed<T>, given: Parameters<typeof sources>[0]): ConfigWarning[] {
  const parsed = parse(sources(given));
  if ('help' in parsed) throw new Error('help instead of a configuration');
  return [...parsed.warnings];
}

for (const { program, parse, prefix, file, flags } of [
  {
    program: 'mon-backend start',
    parse: parseBackend,
    prefix: 'MON_BACKEND_',
    file: '/etc/mon/backend.yml',
    flags: REFERENCE_BACKEND_FLAGS,
  },
  {
    program: 'mon-agent start',
    parse: parseAgent,
    prefix: 'MON_',
    file: '/etc/mon/agent.yml',
    flags: REFERENCE_AGENT_FLAGS,
  },
]) {
  describe(`${program} with flags of the reference that have no effect`, () => {
    const names = Object.keys(flags);
    const given: Record<string, Parameters<typeof sources>[0]> = {
      'the command line': { argv: Object.entries(flags).map(([name, value]) => `--${name}=${value}`) },
      'the environment': {
        env: Object.fromEntries(
          Object.entries(flags).map(([name, value]) => [
            prefix + name.toUpperCase().replaceAll('-', '_'),
            value.includes('=') && !value.includes('://') ? '{"a":"b"}' : value,
          ]),
        ),
      },
      'the file': {
        files: {
          [file]: JSON.stringify(flags),
        },
      },
    };

    for (const [source, settings] of Object.entries(given)) {
      it(`starts with one warning that names each of them and its reason: ${source}`, () => {
        const warnings = warningsOf(parse, settings);
        expect(warnings.map(({ message }) => message)).to.deep.equal([MESSAGE]);
        const fields = warnings[0]?.fields ?? {};
        expect(fields).to.have.all.keys(names);
        for (const name of names) expect(fields[name], name).to.match(/^\S.{9,}$/);
      });
    }

    it('has no warning without them', () => {
      expect(warningsOf(parse, {})).to.deep.equal([]);
    });
  });
}

describe('a flag of the reference without effect', () => {
  for (const [flag, value] of [
    ['log-millisecond-timestamps', 'maybe'],
    ['eventd-workers', 'many'],
    ['platform-metrics-logging-interval', '60'],
    ['etcd-heartbeat-interval', '-1'],
    ['etcd-client-cert-auth', '4'],
    ['labels', 'a'],
  ]) {
    it(`is refused with an invalid value: --${flag}=${value}`, () => {
      const mistakes = mistakesOf(() => parseBackendConfig(sources({ argv: [`--${flag}=${value}`] })));
      expect(mistakes).to.have.lengthOf(1);
      expect(mistakes[0]).to.contain(`invalid argument "${value}" for "--${flag}" flag: `);
    });
  }

  it('is accepted by init and upgrade, with a warning on the command line only', () => {
    const shared = { env: { MON_BACKEND_ETCD_NAME: 'a' }, files: { '/etc/mon/backend.yml': 'etcd-name: a' } };
    for (const { parse, argv } of [
      { parse: (given: Sources) => parseInitConfig(given) as Parsed<unknown>, argv: ADMIN },
      { parse: (given: Sources) => parseUpgradeConfig(given) as Parsed<unknown>, argv: [] },
    ]) {
      expect(warningsOf(parse, { ...shared, argv })).to.deep.equal([]);
      const [warning] = warningsOf(parse, { argv: [...argv, '--etcd-client-urls=http://a:2379'] });
      expect(warning).to.have.nested.property('fields.etcd-client-urls');
    }
  });
});

describe('a flag of the reference that would be dangerous to ignore', () => {
  for (const { parse, argv, rule } of [
    {
      parse: parseBackend,
      argv: ['--etcd-initial-cluster', 'a=http://h1:2380,b=http://h2:2380'],
      rule: 'etcd-initial-cluster: clustering is not supported',
    },
    {
      parse: parseBackend,
      argv: ['--etcd-discovery', 'https://d'],
      rule: 'etcd-discovery: clustering is not supported',
    },
    {
      parse: parseBackend,
      argv: ['--etcd-discovery-srv', 'd'],
      rule: 'etcd-discovery-srv: clustering is not supported',
    },
    {
      parse: parseBackend,
      argv: ['--no-embed-etcd'],
      rule: 'no-embed-etcd: an external datastore is not supported',
    },
    {
      parse: parseBackend,
      argv: ['--dashboard-cert-file', 'x'],
      rule: 'dashboard tls configuration error, both flags --dashboard-cert-file and --dashboard-key-file are required',
    },
  ]) {
    it(`ends the start: ${argv[0]}`, () => {
      expect(mistakesOf(() => parse(sources({ argv })))).to.deep.equal([rule]);
    });
  }
});

describe('the key config-file in a configuration file', () => {
  it('has no effect, which a warning says (spec/03 2.1)', () => {
    for (const parse of [parseAgent, parseBackend]) {
      const file = 'config-file: /other.yml\nlog-level: info\n';
      const warnings = warningsOf(parse, { argv: ['-c', '/a.yml'], files: { '/a.yml': file } });
      expect(warnings).to.deep.include({
        message: MESSAGE,
        fields: { 'config-file': 'the file that is read cannot name another one' },
      });
    }
  });
});

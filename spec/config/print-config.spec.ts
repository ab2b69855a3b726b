import { expect } from 'chai';
import { parse } from 'yaml';
import { parseAgentConfig } from '../../src/config/agent.ts';
import { parseBackendConfig } from '../../src/config/backend.ts';
import { mistakesOf } from './mistakes.ts';
import { sources } from './sources.ts';
import { AGENT_HERE } from './agent-here.ts';

const printed = (given: Parameters<typeof sources>[0]): string => {
  const parsed = parseBackendConfig(sources({ ...given, argv: [...(given.argv ?? []), '--print-config'] }));
  if (!('help' in parsed)) throw new Error('the configuration was not printed');
  return parsed.help;
};

describe('mon-backend start --print-config', () => {
  it('names the source of each setting: flag, variable, file or default', () => {
    const lines = printed({
      argv: ['--state-dir', '/s'],
      env: { MON_BACKEND_AGENT_PORT: '9' },
      files: { '/etc/mon/backend.yml': 'cache-dir: /c' },
    }).split('\n');
    expect(lines).to.include('state-dir: "/s" # flag --state-dir');
    expect(lines).to.include('agent-port: "9" # variable MON_BACKEND_AGENT_PORT');
    expect(lines).to.include('cache-dir: "/c" # file /etc/mon/backend.yml');
    expect(lines).to.include('api-listen-address: "[::]:8080" # default');
    expect(lines).to.include('api-write-timeout: "15s" # default');
  });

  it('prints a file that gives the same configuration', () => {
    const env = {
      MON_BACKEND_LABELS: '{"a":"b"}',
      MON_BACKEND_API_WRITE_TIMEOUT: '1m30s',
      MON_BACKEND_JS_WORKERS: '3',
    };
    const configOf = (given: Parameters<typeof sources>[0]) => {
      const parsed = parseBackendConfig(sources(given));
      if ('help' in parsed) throw new Error('help instead of a configuration');
      return { ...parsed.config, hasDefaultStateDir: undefined };
    };
    const text = printed({ env });
    expect(parse(text)).to.be.an('object');
    expect(configOf({ files: { '/etc/mon/backend.yml': text } })).to.deep.equal(configOf({ env }));
  });

  it('hides secrets, and the credentials of URLs', () => {
    const text = printed({
      argv: ['--legacy-api-user=u', '--legacy-api-password=hunter2', '--api-url=https://me:hunter2@mon.example'],
    });
    expect(text).to.contain('legacy-api-password: "REDACTED"');
    expect(text).to.contain('api-url: "https://REDACTED@mon.example"');
    expect(text).not.to.contain('hunter2');
  });

  it('reports mistakes in names, values and combinations as a start does', () => {
    for (const mistake of ['--agent-prot=1', '--agent-port=x', '--cert-file=/c']) {
      expect(mistakesOf(() => printed({ argv: [mistake] }))).to.deep.equal(
        mistakesOf(() => parseBackendConfig(sources({ argv: [mistake] }))),
      );
    }
  });

  it('prints the names of files, directories and users without a check, which a start makes', () => {
    const argv = ['--cert-file=/no/c', '--key-file=/no/k', '--state-dir=/dev/null/x', '--command-user=nosuch'];
    const text = printed({ argv });
    for (const value of ['/no/c', '/no/k', '/dev/null/x', 'nosuch']) expect(text).to.contain(`: "${value}" # flag`);
  });

  it('shows settings without effect only when they are given', () => {
    expect(printed({})).not.to.contain('eventd-workers');
    expect(printed({ argv: ['--eventd-workers=5'] })).to.contain('eventd-workers: "5" # flag --eventd-workers');
  });
});

describe('mon-agent start --print-config', () => {
  it('hides the password, also that of the default', () => {
    const parsed = parseAgentConfig(sources({ argv: ['--print-config', '--subscriptions=a,b'] }), AGENT_HERE);
    const text = 'help' in parsed ? parsed.help : '';
    expect(text).to.contain('name: "my-host" # default\n');
    expect(text).to.contain('subscriptions: "a,b" # flag --subscriptions\n');
    expect(text).to.contain('password: "REDACTED" # default\n');
  });
});

import { expect } from 'chai';
import { parseAgentConfig } from '../../../src/config/agent.ts';
import { parseBackendConfig } from '../../../src/config/backend.ts';
import type { Parsed } from '../../../src/config/parsing/flags.ts';
import { sources } from '../sources.ts';
import { AGENT_HERE } from '../agent-here.ts';

function helpOf(parsed: Parsed<unknown>): string {
  if (!('help' in parsed)) throw new Error('a configuration instead of help');
  return parsed.help;
}

const backendHelp = (columns?: number): string =>
  helpOf(parseBackendConfig({ ...sources({ argv: ['--help'] }), columns }));

describe('the help of mon-backend start', () => {
  it('has the flags in groups', () => {
    const headings = backendHelp().match(/^[A-Z][\w ,]+:$/gm);
    expect(headings).to.deep.equal([
      'Files and logs:',
      'REST API:',
      'Dashboard:',
      'API of the first generation:',
      'Agents:',
      'TLS:',
      'Logins:',
      'Alerts and handlers:',
      'Assets:',
      'Event log and metrics log:',
      'Own entity and features:',
      'Inspector:',
      'Store and memory:',
    ]);
  });

  it('shows the default and the environment variable of each flag', () => {
    const help = backendHelp(200);
    expect(help).to.match(/-d, --state-dir <text>\n +directory .*\(default \S+\) \[MON_BACKEND_STATE_DIR\]/);
    expect(help).to.contain('(default [::]:8080) [MON_BACKEND_API_LISTEN_ADDRESS]');
    expect(help).to.contain('[MON_BACKEND_INSPECT]');
  });

  it('names the flags of the reference that have no effect at the end', () => {
    const [, end = ''] = backendHelp().split('Accepted without effect');
    expect(end).to.contain('--etcd-heartbeat-interval').and.contain('--eventd-workers');
    expect(end).not.to.contain('--state-dir');
  });

  for (const columns of [60, 80, 120]) {
    it(`fits a terminal of ${columns} columns`, () => {
      const tooWide = backendHelp(columns)
        .split('\n')
        .filter((line) => line.length > columns && !/^ +-/.test(line) && /\S \S/.test(line));
      expect(tooWide).to.deep.equal([]);
    });
  }

  it('is wrapped as at 80 columns on a terminal that does not know its width', () => {
    expect(backendHelp(0)).to.equal(backendHelp(80));
  });

  it('is wrapped at 80 columns where the width is unknown, and at 120 on a wider terminal', () => {
    expect(backendHelp()).to.equal(backendHelp(80));
    expect(backendHelp(300)).to.equal(backendHelp(120));
  });
});

describe('the help of mon-agent start', () => {
  it('has the flags in groups', () => {
    const help = helpOf(parseAgentConfig(sources({ argv: ['-h'] }), AGENT_HERE));
    const headings = help.match(/^[A-Z][\w ,]+:$/gm);
    expect(headings).to.deep.equal([
      'Entity:',
      'Connection:',
      'Keepalives:',
      'Checks:',
      'Local inputs:',
      'Files and logs:',
    ]);
    expect(help).to.match(/-c, --config-file <text>\n[^-]*\[MON_CONFIG_FILE\]$/m);
  });
});

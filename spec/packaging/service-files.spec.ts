import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parseAgentConfig } from '../../src/config/agent.ts';
import { AGENT_HERE } from '../config/agent-here.ts';
import { sources } from '../config/sources.ts';
import { parseXml, plistOf } from './xml.ts';

const packaged = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../packaging/${path}`, import.meta.url)), 'utf8');

/** Parses the flags as the program does. @throws ConfigError for a flag that it does not have */
const warningsOf = (argv: readonly string[]) => {
  const parsed = parseAgentConfig(sources({ argv: [...argv], files: { agent: '' } }), AGENT_HERE);
  return 'help' in parsed ? [] : parsed.warnings;
};

describe('the file of launchd', () => {
  const service = plistOf(packaged('launchd/mon-agent.plist')) as Record<string, unknown>;

  it('starts the agent with flags that it has, and restarts it', () => {
    const [program, command, ...flags] = service['ProgramArguments'] as string[];
    expect([program, command]).to.deep.equal(['/usr/local/bin/mon-agent', 'start']);
    expect(flags).to.include.members(['--log-file', '--cache-dir']);
    expect(warningsOf(flags)).to.deep.equal([]);
    expect(service).to.deep.include({ Label: 'mon-agent', RunAtLoad: true, KeepAlive: true });
  });

  it('gives it time to stop, and descriptors', () => {
    expect(service).to.deep.include({ ExitTimeOut: 45, SoftResourceLimits: { NumberOfFiles: 65_535 } });
  });
});

describe('the file of the Windows service', () => {
  const { name, children } = parseXml(packaged('windows/mon-agent.xml'));
  const textOf = (element: string): string | undefined => children.find((each) => each.name === element)?.text;

  it('has the elements that the wrapper needs, each once', () => {
    expect(name).to.equal('service');
    const names = children.map((each) => each.name);
    expect(names).to.include.members(['id', 'name', 'description', 'executable', 'arguments', 'onfailure']);
    expect(new Set(names).size).to.equal(names.length);
    expect(textOf('stoptimeout')).to.equal('45 sec');
  });

  it('starts the agent with flags that it has', () => {
    const words = [...(textOf('arguments') ?? '').matchAll(/"([^"]*)"|(\S+)/g)].map(
      ([, quoted, plain]) => quoted ?? plain ?? '',
    );
    const [script, command, ...flags] = words;
    expect(script).to.match(/\\bin\\mon-agent\.js$/);
    expect(command).to.equal('start');
    expect(flags.filter((word) => word.startsWith('--'))).to.deep.equal(['--config-file', '--log-file']);
    expect(warningsOf(flags.map((word) => (word.includes('agent.yml') ? 'agent' : word)))).to.deep.equal([]);
  });
});

describe('a service file that is damaged', () => {
  for (const [what, text] of [
    ['a tag that is not closed', '<plist><dict><key>a</key></plist>'],
    ['a text with a bare ampersand', '<plist><string>a & b</string></plist>'],
    ['a key without its value', '<plist><dict><key>a</key></dict></plist>'],
    ['a second element', '<plist><true/></plist><plist><true/></plist>'],
    ['a number that is none', '<plist><integer>4 5</integer></plist>'],
    ['two dashes in a comment', '<!-- a -- b --><plist><true/></plist>'],
  ] as const) {
    it(`is found by the parser of these tests: ${what}`, () => {
      expect(() => plistOf(text)).to.throw();
    });
  }
});

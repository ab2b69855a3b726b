import { expect } from 'chai';
import fc from 'fast-check';
import { ConfigError, type Flag, kinds, parseFlags, type Program } from '../../../src/config/parsing/flags.ts';
import { sources } from '../sources.ts';

const flags = {
  'config-file': { kind: kinds.text, fallback: '/etc/x.yml', short: 'c', about: 'file' },
  name: { kind: kinds.text, fallback: 'nobody', short: 'n', about: 'a name' },
  port: { kind: kinds.integer(0, 65_535), fallback: 80, about: 'a port', otherVariables: ['PROT'] },
  tags: { kind: kinds.list, fallback: ['t'], about: 'a list' },
  labels: { kind: kinds.map, fallback: {}, about: 'a map' },
  traits: { kind: kinds.mapWithLowerCaseFileKeys, fallback: {}, about: 'a map with keys in lower case' },
  wait: { kind: kinds.duration(), fallback: 15_000, about: 'a duration' },
  loud: { kind: kinds.boolean, fallback: false, about: 'a boolean' },
  growth: { kind: kinds.decimal(0), fallback: 2, about: 'a decimal', formerName: 'factor' },
  mode: { kind: kinds.oneOf(['a', 'b']), fallback: 'a', about: 'a mode' },
  password: { kind: kinds.integer(0, 9), fallback: 0, secret: true, about: 'a secret' },
} satisfies Record<string, Flag<unknown>>;

const program = {
  usage: 'x start',
  environmentPrefix: 'X_',
  flags,
  rules: [
    {
      flags: ['port', 'mode'],
      broken: ({ port, mode }) => (port === 1 && mode === 'b' ? 'port 1 excludes mode b' : undefined),
    },
  ],
  build: (values) => values,
} satisfies Program<typeof flags, unknown>;

type Given = Parameters<typeof sources>[0];

function parsed(given: Given) {
  const result = parseFlags(program, sources(given));
  if ('help' in result) throw new Error('help instead of a configuration');
  return result;
}

const valueOf = (name: keyof typeof flags, given: Given): unknown => parsed(given).config[name];

function mistakesOf(given: Given): string[] {
  try {
    parsed(given);
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes.map(({ flag, rule }) => `${flag ?? '-'}: ${rule}`);
    throw error;
  }
  return [];
}

describe('a configuration', () => {
  const file = { '/etc/x.yml': 'name: file\nport: 3\n' };

  it('prefers flags over the environment, then the file, then the defaults', () => {
    const env = { X_NAME: 'environment', X_PORT: '2' };
    expect(valueOf('name', { argv: ['--name', 'flag'], env, files: file })).to.equal('flag');
    expect(valueOf('name', { env, files: file })).to.equal('environment');
    expect(valueOf('name', { files: file })).to.equal('file');
    expect(valueOf('name', {})).to.equal('nobody');
    expect(valueOf('port', { files: file })).to.equal(3);
  });

  it('is frozen', () => {
    expect(parsed({}).config).to.satisfy(Object.isFrozen);
  });

  it('treats an empty variable as unset, and prefers the regular variable over additional ones', () => {
    expect(valueOf('name', { env: { X_NAME: '' }, files: file })).to.equal('file');
    expect(valueOf('port', { env: { X_PROT: '5' } })).to.equal(5);
    expect(valueOf('port', { env: { X_PROT: '5', X_PORT: '6' } })).to.equal(6);
    expect(valueOf('port', { env: { X_PROT: '5', X_PORT: '' } })).to.equal(5);
  });

  for (const { what, name, given, is } of [
    { what: 'a flag with =', name: 'name', given: { argv: ['--name=a=b'] }, is: 'a=b' },
    { what: 'a short flag', name: 'name', given: { argv: ['-n', 'a'] }, is: 'a' },
    { what: 'a value that looks like a flag', name: 'name', given: { argv: ['--name', '--port'] }, is: '--port' },
    { what: 'the last of two', name: 'name', given: { argv: ['--name', 'a', '--name', 'b'] }, is: 'b' },
    {
      what: 'a list with commas and repeated',
      name: 'tags',
      given: { argv: ['--tags', 'a,b', '--tags', '"x,y",z'] },
      is: ['a', 'b', 'x,y', 'z'],
    },
    { what: 'a list in the environment', name: 'tags', given: { env: { X_TAGS: 'a, b c' } }, is: ['a', 'b', 'c'] },
    { what: 'a list in the file', name: 'tags', given: { files: { '/etc/x.yml': 'tags: [a, 5]' } }, is: ['a', '5'] },
    {
      what: 'a list as text in the file',
      name: 'tags',
      given: { files: { '/etc/x.yml': 'tags: a,b' } },
      is: ['a', 'b'],
    },
    { what: 'an empty list', name: 'tags', given: { argv: ['--tags', ''] }, is: [] },
    {
      what: 'a map',
      name: 'labels',
      given: { argv: ['--labels', 'a=1,b=2', '--labels', 'c=x,y'] },
      is: { a: '1', b: '2', c: 'x,y' },
    },
    {
      what: 'a map in the environment as JSON',
      name: 'labels',
      given: { env: { X_LABELS: '{"a":1}' } },
      is: { a: '1' },
    },
    {
      what: 'a map in the environment as pairs',
      name: 'labels',
      given: { env: { X_LABELS: 'a=1,b=2' } },
      is: { a: '1', b: '2' },
    },
    {
      what: 'a map in the file, its keys as they are',
      name: 'labels',
      given: { files: { '/etc/x.yml': 'labels: {aB: true}' } },
      is: { aB: 'true' },
    },
    {
      what: 'a map in the file, its keys in lower case',
      name: 'traits',
      given: { files: { '/etc/x.yml': 'traits: {aB: true}' } },
      is: { ab: 'true' },
    },
    {
      what: 'a flag of that map, its keys as they are',
      name: 'traits',
      given: { argv: ['--traits', 'aB=true'] },
      is: { aB: 'true' },
    },
    {
      what: 'a map in the file with a number that is too large to be exact, and without a value',
      name: 'labels',
      given: { files: { '/etc/x.yml': 'labels: {channel: 123456789012345678, team: }' } },
      is: { channel: '123456789012345678', team: '' },
    },
    { what: 'a duration', name: 'wait', given: { argv: ['--wait', '1m30.5s'] }, is: 90_500 },
    { what: 'a decimal', name: 'growth', given: { argv: ['--growth', '.5'] }, is: 0.5 },
    { what: 'a decimal with an exponent', name: 'growth', given: { argv: ['--growth', '1.5e3'] }, is: 1_500 },
    { what: 'a duration of 0', name: 'wait', given: { argv: ['--wait', '0'] }, is: 0 },
    { what: 'a boolean without a value', name: 'loud', given: { argv: ['--loud'] }, is: true },
    { what: 'a boolean with a value', name: 'loud', given: { argv: ['--loud=false'] }, is: false },
    { what: 'a boolean in the environment', name: 'loud', given: { env: { X_LOUD: '1' } }, is: true },
    { what: 'a boolean in the file', name: 'loud', given: { files: { '/etc/x.yml': 'loud: true' } }, is: true },
    {
      what: 'keys in any case, the last of two',
      name: 'port',
      given: { files: { '/etc/x.yml': 'Port: 1\nPORT: 2' } },
      is: 2,
    },
    {
      what: 'a file with a BOM and CRLF',
      name: 'port',
      given: { files: { '/etc/x.yml': '\ufeffport: 7\r\n' } },
      is: 7,
    },
    { what: 'a file that is JSON', name: 'port', given: { files: { '/etc/x.yml': '{"port": 7}' } }, is: 7 },
    { what: 'an empty file', name: 'port', given: { files: { '/etc/x.yml': '' } }, is: 80 },
    {
      what: 'the first of two documents',
      name: 'port',
      given: { files: { '/etc/x.yml': 'port: 7\n---\nport: 8' } },
      is: 7,
    },
    {
      what: 'a file named by a flag',
      name: 'port',
      given: { argv: ['-c', 'f'], env: { X_CONFIG_FILE: 'g' }, files: { f: 'port: 7', g: 'port: 8' } },
      is: 7,
    },
    {
      what: 'a file named by a variable',
      name: 'port',
      given: { env: { X_CONFIG_FILE: 'g' }, files: { g: 'port: 8' } },
      is: 8,
    },
  ] as { what: string; name: keyof typeof flags; given: Given; is: unknown }[]) {
    it(`reads ${what}`, () => {
      expect(valueOf(name, given)).to.deep.equal(is);
    });
  }

  it('accepts a former name, with a warning, when the current one is not given', () => {
    const flag = 'flag --factor has been deprecated, please use --growth instead';
    const attribute = 'config attribute factor has been deprecated, please use growth instead';
    const files = { '/etc/x.yml': 'factor: 5' };
    expect(parsed({ argv: ['--factor', '3'] }).config.growth).to.equal(3);
    expect(parsed({ argv: ['--factor', '3'] }).warnings).to.deep.equal([{ message: flag, fields: {} }]);
    expect(parsed({ argv: ['--factor', '3', '--growth', '4'] }).config.growth).to.equal(4);
    expect(parsed({ files }).config.growth).to.equal(5);
    expect(parsed({ files }).warnings).to.deep.equal([{ message: attribute, fields: {} }]);
    expect(parsed({ env: { X_FACTOR: '6' }, files }).config.growth).to.equal(6);
    expect(parsed({ env: { X_FACTOR: '6', X_GROWTH: '7' } }).config.growth).to.equal(7);
  });

  it('warns of unknown keys, with a suggestion for a misspelt one', () => {
    const message = 'unknown key in the configuration file';
    const file = '/etc/x.yml';
    const { warnings } = parsed({ files: { [file]: 'prot: 1\nlabel: {}\npass_word: 1\nelephant: 1\n' } });
    expect(warnings).to.deep.equal([
      { message, fields: { key: 'prot', file, suggestion: 'port' } },
      { message, fields: { key: 'label', file, suggestion: 'labels' } },
      { message, fields: { key: 'pass_word', file, suggestion: 'password' } },
      { message, fields: { key: 'elephant', file } },
    ]);
  });

  it('warns of a key that the file has more than once', () => {
    const message = 'repeated key in the configuration file, only one of its values counts';
    const file = '/etc/x.yml';
    const { warnings } = parsed({ files: { [file]: 'port: 1\nname: a\nPort: 2\n' } });
    expect(warnings).to.deep.equal([{ message, fields: { key: 'port', file } }]);
  });

  for (const [argument, suggestion] of [
    ['--prot', '--port'],
    ['--prot=1', '--port'],
    ['--lables', '--labels'],
    ['--Name', '--name'],
    ['--config', '--config-file'],
    ['--tag', '--tags'],
    ['-port', '--port'],
  ] as const) {
    it(`suggests ${suggestion} for ${argument}`, () => {
      const [mistake] = mistakesOf({ argv: [argument] });
      expect(mistake).to.match(new RegExp(`^-: unknown .*\\(did you mean ${suggestion}\\?\\)$`));
    });
  }

  it('reports all mistakes at once, each with its flag and rule', () => {
    const env = { X_WAIT: '5', X_LOUD: 'maybe', X_LABELS: '{"a":' };
    const argv = ['--foo', 'x', 'stray', '-z', '--port', 'y', '--mode=c', '--name'];
    const mistakes = mistakesOf({ argv, env, files: { '/etc/x.yml': 'tags: [[1]]' } });
    expect(mistakes.slice(0, 6)).to.deep.equal([
      'name: flag needs an argument: --name',
      '-: unknown flag: --foo',
      '-: unexpected argument "stray"',
      "-: unknown shorthand flag: 'z' in -z",
      'port: invalid argument "y" for "--port" flag: must be a whole number from 0 to 65535',
      'tags: invalid argument "[[1]]" for "--tags" in /etc/x.yml: must be a list of strings',
    ]);
    expect(mistakes[6]).to.match(/^labels: invalid argument "{"a":" for "--labels" in X_LABELS: must be a JSON object/);
    expect(mistakes.slice(7)).to.deep.equal([
      'wait: invalid argument "5" for "--wait" in X_WAIT: time: missing unit in duration "5"',
      'loud: invalid argument "maybe" for "--loud" in X_LOUD: must be true or false',
      'mode: invalid argument "c" for "--mode" flag: must be one of a, b',
    ]);
  });

  it('checks rules between flags, unless the value of one of them is invalid', () => {
    expect(mistakesOf({ argv: ['--port', '1', '--mode', 'b'] })).to.deep.equal(['port: port 1 excludes mode b']);
    expect(mistakesOf({ argv: ['--port', '1', '--mode', 'c'] })).to.have.lengthOf(1);
  });

  it('never shows a secret', () => {
    const [mistake] = mistakesOf({ argv: ['--password', 'hunter2'] });
    expect(mistake).to.match(/^password: invalid argument "REDACTED"/);
  });

  it('rejects a named file that is missing, and any file that is not a YAML map', () => {
    expect(mistakesOf({ argv: ['-c', 'missing.yml'] })[0]).to.match(/^config-file: missing.yml: ENOENT/);
    expect(mistakesOf({ files: { '/etc/x.yml': 'a: [' } })[0]).to.match(/^config-file: \/etc\/x.yml: /);
    expect(mistakesOf({ files: { '/etc/x.yml': '- a' } })[0]).to.match(/must be a map/);
    expect(mistakesOf({ files: { '/etc/x.yml': 'hello' } })[0]).to.match(/must be a map/);
  });

  it('shows all flags and their defaults for -h and --help, even with other mistakes', () => {
    for (const argv of [['-h'], ['--port', 'x', '--help']]) {
      const result = parseFlags(program, sources({ argv }));
      const help = 'help' in result ? result.help : '';
      for (const name of Object.keys(flags)) expect(help).to.contain(`--${name}`);
      expect(help).to.contain('Usage: x start [flags]').and.contain('(default 80)').and.contain('(default 15s)');
    }
  });

  it('is parsed or rejected with ConfigError, whatever the arguments', () => {
    const argument = fc.oneof(
      fc.string(),
      fc.constantFrom('--name', '--tags', '--labels=', '-n', '--', '-', '--loud=x', '--wait'),
    );
    fc.assert(
      fc.property(fc.array(argument), fc.string(), (argv, text) => {
        try {
          parseFlags(program, sources({ argv, files: { '/etc/x.yml': text } }));
        } catch (error) {
          expect(error).to.be.instanceOf(ConfigError);
        }
      }),
      { numRuns: 300 },
    );
  });
});

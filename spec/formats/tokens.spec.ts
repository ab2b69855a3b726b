import { expect } from 'chai';
import fc from 'fast-check';
import { substituteTokens, TokenError, TokensTooLong, TokenTemplate } from '../../src/formats/tokens.ts';

const WEB = {
  name: 'web-1',
  labels: { disk: '80', 'cpu.t': '9', 'a-b': 'c', empty: '' },
  subscriptions: ['linux', 'web'],
  deregister: false,
  metadata: null,
};

const filledIn = (command: string): string => substituteTokens({ command }, WEB).command;

function errorOf(command: string): string {
  try {
    return `no error: ${filledIn(command)}`;
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    return error.message;
  }
}

describe('tokens', () => {
  const cases: [string, string][] = [
    ['no token', 'no token'],
    ['chk {{ .name }} -w {{.labels.disk}}', 'chk web-1 -w 80'],
    ['{{ .labels.nope | default 90 }}', '90'],
    ['{{ .labels.nope.x | default "y" }}', 'y'],
    ['{{ index .labels "nope" | default "z" }}', 'z'],
    ['{{ index .labels "cpu.t" }} {{ index .labels "a-b" | default `d` }}', '9 c'],
    ['{{ .labels.empty | default "z" }}', ''],
    ['{{ default 3 }}{{ default "a" .name }}', '3web-1'],
    ['{{ index .subscriptions 1 }}', 'web'],
    ['{{ .subscriptions }} {{ .deregister }} {{ true }} {{ 1.5 }}', '[linux web] false true 1.5'],
    ['{{ .labels }}', 'map[a-b:c cpu.t:9 disk:80 empty:]'],
    ['{{ (index .labels "disk") | default (index .labels "a-b") }}', '80'],
    ['${{assetPath "acme/http-checks"}}', '$ACME_HTTP_CHECKS_PATH'],
    ['a {{- .name -}} b', 'aweb-1b'],
    ['a{{/* }} a remark */}}b', 'ab'],
    ['{{ "}}" }} a }} b', '}} a }} b'],
    ['{{ .metadata | default "none" }}', 'none'],
  ];
  for (const [template, expected] of cases) {
    it(`are replaced: ${template} becomes ${JSON.stringify(expected)}`, () => {
      expect(filledIn(template)).to.equal(expected);
    });
  }

  const errors: [string, RegExp][] = [
    [
      'a {{ .labels.nope }}',
      /^command: unmatched token: template: command:1:12: executing "command" at <\.labels\.nope>: map has no entry for key "nope"$/,
    ],
    ['{{ .foo.bar }}', /map has no entry for key "foo"$/],
    [
      '{{ index .labels "nope" }}',
      /^command: unmatched token: found an undefined value but could not identify the token$/,
    ],
    ['<no value>{{ .name }}', /unmatched token/],
    ['{{ upper .name }}', /^command: could not parse the template: template: command:1: function "upper" not defined$/],
    ['{{ constructor }}', /function "constructor" not defined$/],
    ['{{ .name', /^command: could not parse the template: .*unclosed action$/],
    ['{{ }}', /missing value for command$/],
    ['{{ | .name }}', /unexpected "\|" in command$/],
    ['{{ ( .name }}', /unclosed left paren$/],
    ['{{ .name ! }}', /unexpected "!" in operand$/],
    ['{{ .name..x }}', /unexpected <\.> in operand$/],
    ['{{ .name.foo }}', /can't evaluate field foo in type interface \{\}$/],
    ['{{ .name 3 }}', /could not execute the template/],
    ['{{ index .subscriptions 7 }}', /index out of range: 7$/],
    ['{{ .labels.constructor }}', /map has no entry for key "constructor"$/],
  ];
  for (const [template, error] of errors) {
    it(`are rejected in ${template}`, () => {
      expect(errorOf(template)).to.match(error);
    });
  }

  it('are replaced in every text, at any depth, and never in keys', () => {
    const check = {
      command: '{{ .name }}',
      '{{ .name }}': 1,
      env_vars: ['N={{ .name }}'],
      metadata: { labels: { a: '{{ .name }}' } },
      stdin: true,
      subdue: null,
    };
    expect(substituteTokens(check, WEB)).to.deep.equal({
      command: 'web-1',
      '{{ .name }}': 1,
      env_vars: ['N=web-1'],
      metadata: { labels: { a: 'web-1' } },
      stdin: true,
      subdue: null,
    });
  });

  it('are replaced once: a value that contains tokens is not evaluated again', () => {
    expect(substituteTokens('{{ .name }}', { name: '{{ .labels }}' })).to.equal('{{ .labels }}');
  });

  const endless: [string, RegExp][] = [
    ['"a"', /unexpected "\\"a\\"" in operand$/],
    ['`a`', /unexpected "`a`" in operand$/],
    ['/**/', /unclosed comment$|unexpected "\/" in command$/],
    ['- ', /illegal number syntax: "-"$/],
    ['(', /max expression depth exceeded$/],
    ['.a', /more than 20000 lexemes$/],
  ];
  for (const [unit, error] of endless) {
    it(`are rejected in linear time when they do not end: many of ${unit}`, () => {
      expect(errorOf(`{{ ${unit.repeat(50_000)}`)).to.match(error);
    });
  }

  it('are replaced or rejected with TokenError, whatever the text', () => {
    const likely = fc.stringMatching(/^[{} .|()"`a-z\-\\/*0-9]{0,40}$/);
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), likely), (text) => {
        expect(errorOf(`{{ ${text}`)).to.be.a('string');
      }),
    );
  });

  describe('of a value', () => {
    const longLabel = { labels: { x: 'x'.repeat(250_000) } };

    it('are counted while they are filled: more than 1 MiB is too long', () => {
      const fits = substituteTokens({ command: '{{.labels.x}}'.repeat(4) }, longLabel);
      expect(fits.command).to.have.length(1_000_000);
      for (const command of [
        '{{.labels.x}}'.repeat(1_200),
        '{{len (print .labels.x .labels.x .labels.x .labels.x .labels.x)}}',
      ]) {
        expect(() => substituteTokens({ command }, longLabel))
          .to.throw(TokensTooLong)
          .with.property('message', 'command: too long: the filled strings exceed 1048576 bytes');
      }
    });

    it('are counted together, with the texts that have none', () => {
      const value = { a: 'a'.repeat(600_000), b: ['{{.labels.x}}', '{{.labels.x}}'] };
      expect(() => substituteTokens(value, longLabel)).to.throw(TokensTooLong);
      expect(new TokenTemplate({ ...value, b: ['{{.labels.x}}'] }).fill(longLabel).bytes).to.equal(850_000);
      expect(() => substituteTokens({ a: 'a'.repeat(2_000_000) }, longLabel)).not.to.throw();
    });

    it('are at most 20,000 lexemes', () => {
      expect(substituteTokens('{{ .name }}\n'.repeat(4_900), WEB)).to.have.length(4_900 * 6);
      const value = { a: '{{ .name }}\n'.repeat(4_000), b: '{{ .name }}\n'.repeat(4_000) };
      expect(() => substituteTokens(value, WEB)).to.throw(TokenError, /^b: could not parse the template: .* lexemes$/);
    });

    it('are parsed once for all entities', () => {
      const template = new TokenTemplate({ command: '{{ .name }}', list: ['{{ .name }}'], same: { a: 1 } });
      for (const name of ['a', 'b']) {
        expect(template.fill({ name }).value).to.deep.equal({ command: name, list: [name], same: { a: 1 } });
      }
    });

    it('name the list in which they cannot be filled', () => {
      const errors = ['A=1', 'B={{ .labels.nope }}'];
      expect(() => substituteTokens({ env_vars: errors }, WEB)).to.throw(
        TokenError,
        'couldn\'t evaluate template for env_vars: env_vars: unmatched token: template: env_vars:1:12: executing "env_vars" at <.labels.nope>: map has no entry for key "nope" (array 1)',
      );
    });

    const endless = [
      ['a range over many numbers', '{{range 1000000000}}{{end}}'],
      ['ranges within ranges', '{{range $.labels.x}}{{end}}{{range 3000}}{{range 3000}}{{end}}{{end}}'.slice(26)],
      ['long texts that are not part of the result', '{{range 3000}}{{$_ := html $.labels.x}}{{end}}'],
      ['long texts that are cut', '{{range 3000}}{{$_ := printf "%.1s" (slice $.labels.x 1)}}{{end}}'],
      ['long texts that are compared', '{{range 30000}}{{$_ := lt $.labels.x $.labels.x}}{{end}}'],
    ];
    for (const [what = '', command] of endless) {
      it(`end after a bounded number of steps: ${what}`, () => {
        expect(() => substituteTokens({ command }, longLabel)).to.throw(
          TokenError,
          'could not execute the template: template: command: needs more than 50000 steps',
        );
      });
    }

    it('end at a bounded depth', () => {
      const command = '{{define "t"}}{{template "t" .}}{{template "t" .}}{{end}}{{template "t" .}}';
      expect(() => substituteTokens({ command }, WEB)).to.throw(TokenError, /exceeded maximum template depth \(500\)$/);
    });

    it('have error messages of bounded length', () => {
      expect(errorOf(`{{ .${'x'.repeat(100_000)} }}`)).to.have.length.below(5_000);
    });
  });
});

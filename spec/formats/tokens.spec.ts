import { expect } from 'chai';
import fc from 'fast-check';
import { TokenError } from '../../src/formats/token-template.ts';
import { substituteTokens } from '../../src/formats/tokens.ts';

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
      /^command: unmatched token: template: command:1:2: executing "command" at <\.labels\.nope>: map has no entry for key "nope"$/,
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
    ['{{ .name | }}', /missing value for command$/],
    ['{{ ( .name }}', /unclosed left paren$/],
    ['{{ .name ! }}', /unexpected "!" in operand$/],
    ['{{ .name..x }}', /unexpected <\.>/],
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

  for (const unit of ['"a"', '`a`', '/**/', '- ', '(', '.a']) {
    it(`are rejected in linear time when they do not end: many of ${unit}`, () => {
      expect(errorOf(`{{ ${unit.repeat(10_000)}`)).to.match(/unclosed action$/);
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
});

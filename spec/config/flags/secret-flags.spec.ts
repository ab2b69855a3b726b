import { expect } from 'chai';
import { parseBackendConfig } from '../../../src/config/backend.ts';
import { mistakesOf } from '../mistakes.ts';
import { sources } from '../sources.ts';

const parse = (...argv: string[]) => parseBackendConfig(sources({ argv }));

function variablesOf(...argv: string[]): readonly string[] | undefined {
  const parsed = parse(...argv);
  if ('help' in parsed) throw new Error('the help was asked for');
  return parsed.config.secretVariables;
}

describe('the flag --secrets-env-allow', () => {
  it('allows the variables that begin with MON_SECRET_ by default', () => {
    expect(variablesOf()).to.deep.equal(['MON_SECRET_*']);
  });

  it('lists names and prefixes', () => {
    expect(variablesOf('--secrets-env-allow', 'PAGER_KEY,DB_*')).to.deep.equal(['PAGER_KEY', 'DB_*']);
    expect(variablesOf('--secrets-env-allow', '')).to.deep.equal([]);
  });

  for (const wrong of ['*', 'pager', '1A', 'A-B', 'A*B', 'A**']) {
    it(`rejects ${wrong}`, () => {
      const [rule] = mistakesOf(() => parse('--secrets-env-allow', wrong));
      expect(rule)
        .to.match(/^secrets-env-allow must list variables of A-Z/)
        .and.to.include(`not ${wrong}`);
    });
  }

  for (const wrong of ['PATH', 'P*', 'PATH*']) {
    it(`rejects ${wrong}, because commands need PATH`, () => {
      expect(mistakesOf(() => parse('--secrets-env-allow', wrong))).to.deep.equal([
        'secrets-env-allow must not match PATH, which commands need',
      ]);
    });
  }
});

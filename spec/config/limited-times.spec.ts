import { expect } from 'chai';
import { parseBackendConfig } from '../../src/config/backend.ts';

import { mistakesOf } from './mistakes.ts';
import { sources } from './sources.ts';

const backendOf = (...argv: string[]) => parseBackendConfig(sources({ argv }));

describe('the flags of tokens and silences', () => {
  const refused: [string[], string][] = [
    [['--access-token-expiry=0'], 'access-token-expiry must be from 1s to 87600h'],
    [['--access-token-expiry=999ms'], 'access-token-expiry must be from 1s to 87600h'],
    [['--refresh-token-expiry=87601h'], 'refresh-token-expiry must be from 1s to 87600h'],
    [['--jwt-private-key-file=/k'], 'the flags --jwt-private-key-file and --jwt-public-key-file are required together'],
    [['--jwt-public-key-file=/p'], 'the flags --jwt-private-key-file and --jwt-public-key-file are required together'],
    [
      ['--default-silenced-expiry-time=2h', '--max-silenced-expiry-time-allowed=1h'],
      'default-silenced-expiry-time must be at most max-silenced-expiry-time-allowed',
    ],
  ];
  for (const [argv, rule] of refused) {
    it(`reject ${argv.join(' ')}`, () => {
      expect(mistakesOf(() => backendOf(...argv))).to.deep.equal([rule]);
    });
  }

  it('accept a default duration of silences without a longest one, and a longest one without a default', () => {
    expect(mistakesOf(() => backendOf('--default-silenced-expiry-time=1440m'))).to.deep.equal([]);
    expect(mistakesOf(() => backendOf('--max-silenced-expiry-time-allowed=1440m'))).to.deep.equal([]);
  });
});

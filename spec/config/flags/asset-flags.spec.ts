import { expect } from 'chai';
import { type BackendConfig, parseBackendConfig } from '../../../src/config/backend.ts';
import { mistakesOf } from '../mistakes.ts';
import { sources } from '../sources.ts';

function assetsOf(given: Parameters<typeof sources>[0]): BackendConfig['assets'] {
  const parsed = parseBackendConfig(sources(given));
  if ('help' in parsed) throw new Error('help instead of a configuration');
  return parsed.config.assets;
}

describe('the flags of assets', () => {
  it('have the default rate for a rate of 0, as in the reference', () => {
    expect(assetsOf({ argv: ['--assets-rate-limit=0'] })?.tokensPerS).to.equal(1.39);
    expect(assetsOf({ argv: ['--assets-rate-limit=2.5', '--assets-burst-limit=3'] })).to.include({
      tokensPerS: 2.5,
      burst: 3,
    });
  });

  it('name the networks of servers, in several flags or in one', () => {
    const argv = ['--assets-allowed-networks=any,10.0.0.0/8', '--assets-allowed-networks=fd00::/8'];
    expect(assetsOf({ argv })?.allowed).to.have.length(3);
    expect(assetsOf({ argv })?.allowed[0]).to.equal('any');
    const files = { '/etc/mon/backend.yml': 'assets-allowed-networks: [public, 127.0.0.1]' };
    expect(assetsOf({ files })?.allowed).to.have.length(2);
  });

  it('are refused with a rule when they are wrong', () => {
    const wrong = { 'assets-rate-limit': 'q', 'assets-burst-limit': '1.5', 'assets-allowed-networks': '10.0.0.0/40' };
    for (const [flag, value] of Object.entries(wrong)) {
      const mistakes = mistakesOf(() => parseBackendConfig(sources({ argv: [`--${flag}=${value}`] })));
      expect(mistakes, flag).to.have.length(1);
      expect(mistakes[0]).to.contain(`--${flag}`);
    }
    const [mistake] = mistakesOf(() => parseBackendConfig(sources({ argv: ['--assets-allowed-networks=lan'] })));
    expect(mistake).to.contain('must be any, public or networks such as 10.0.0.0/8');
  });
});

import { expect } from 'chai';
import { parseAgentConfig } from '../../src/config/agent.ts';
import { parseBackendConfig } from '../../src/config/backend.ts';

import { mistakesOf } from './mistakes.ts';
import { sources } from './sources.ts';
import { AGENT_HERE } from './agent-here.ts';

const backendOf = (...argv: string[]) => parseBackendConfig(sources({ argv }));
const agentOf = (...argv: string[]) => parseAgentConfig(sources({ argv }), AGENT_HERE);

const AGENT_AUTH = ['cert', 'key', 'trusted-ca'].map((name) => `--agent-auth-${name}-file=/${name}`);
const PAIR_RULE = 'tls configuration error, both flags --cert-file & --key-file are required';

describe('the flags of TLS', () => {
  for (const [program, parse] of [
    ['backend', backendOf],
    ['agent', agentOf],
  ] as const) {
    it(`require a certificate and its key together (${program})`, () => {
      expect(mistakesOf(() => parse('--cert-file', '/c'))).to.deep.equal([PAIR_RULE]);
      expect(mistakesOf(() => parse('--key-file', '/k'))).to.deep.equal([PAIR_RULE]);
      expect(parse('--cert-file', '/c', '--key-file', '/k')).to.have.deep.nested.property('config.tls.pair', {
        cert: { flag: 'cert-file', path: '/c' },
        key: { flag: 'key-file', path: '/k' },
      });
    });

    it(`cause a warning when servers are not verified (${program})`, () => {
      const parsed = parse('--insecure-skip-tls-verify');
      expect(parsed).to.have.nested.property('config.tls.skipsVerification', true);
      expect(parsed).to.have.nested.property('warnings[0].fields.flag', 'insecure-skip-tls-verify');
    });
  }

  it('require the certificate, the key and the authority for agents together', () => {
    for (const missing of AGENT_AUTH) {
      const rest = AGENT_AUTH.filter((flag) => flag !== missing);
      expect(mistakesOf(() => backendOf(...rest))[0], missing).to.match(/--agent-auth-trusted-ca-file are required/);
    }
    expect(backendOf(...AGENT_AUTH)).to.have.deep.nested.property('config.tls.agentAuth', {
      pair: {
        cert: { flag: 'agent-auth-cert-file', path: '/cert' },
        key: { flag: 'agent-auth-key-file', path: '/key' },
      },
      ca: { flag: 'agent-auth-trusted-ca-file', path: '/trusted-ca' },
      crlUrls: [],
      namesEntity: false,
    });
  });

  it('can require the name of the entity as the common name, for agents with certificates only', () => {
    const flag = '--agent-certificate-names-entity';
    expect(backendOf(...AGENT_AUTH, flag)).to.have.nested.property('config.tls.agentAuth.namesEntity', true);
    expect(mistakesOf(() => backendOf(flag))).to.deep.equal([
      'agent-certificate-names-entity needs --agent-auth-trusted-ca-file',
    ]);
  });

  it('include URLs of revocation lists, for agents with certificates only', () => {
    const urls = ['http://a.test/a.crl', 'https://a.test/b.crl', 'file:///etc/c.crl'];
    const given = `--agent-auth-crl-urls=${urls.join(',')}`;
    expect(backendOf(...AGENT_AUTH, given)).to.have.deep.nested.property('config.tls.agentAuth.crlUrls', urls);
    expect(mistakesOf(() => backendOf(given))).to.deep.equal([
      'agent-auth-crl-urls needs --agent-auth-trusted-ca-file',
    ]);
    for (const wrong of ['/etc/c.crl', 'ldap://a.test/c']) {
      expect(mistakesOf(() => backendOf(...AGENT_AUTH, '--agent-auth-crl-urls', wrong))).to.deep.equal([
        `agent-auth-crl-urls: ${wrong} must be a URL of http, https or file`,
      ]);
    }
  });
});

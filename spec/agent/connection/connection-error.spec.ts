import { expect } from 'chai';
import { describeConnectionError, shownUrl } from '../../../src/agent/connection/connection-error.ts';

const failure = (code: string, message: string): Error => Object.assign(new Error(message), { code });

describe('the description of a connection error', () => {
  const cases: [string, Error, string][] = [
    [
      'every address of a name that has several',
      new AggregateError([failure('ECONNREFUSED', 'refused ::1'), failure('ECONNREFUSED', 'refused 127.0.0.1')]),
      'refused ::1; refused 127.0.0.1',
    ],
    [
      'a name that the certificate does not have',
      failure('ERR_TLS_CERT_ALTNAME_INVALID', 'not a.test'),
      'the certificate of the backend is not trusted: not a.test (ERR_TLS_CERT_ALTNAME_INVALID)',
    ],
    [
      'an unknown issuer',
      failure('UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'no issuer'),
      'the certificate of the backend is not trusted: no issuer (UNABLE_TO_VERIFY_LEAF_SIGNATURE)',
    ],
    [
      'a backend that wants a certificate of the agent',
      failure('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'certificate required'),
      'the backend rejected the certificate of this agent, or requires one: certificate required',
    ],
    [
      'a backend that does not know the issuer of the certificate of the agent',
      failure('ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'tlsv1 alert unknown ca'),
      'the backend rejected the certificate of this agent, or requires one: tlsv1 alert unknown ca',
    ],
    [
      'an alert of TLS in place of an answer',
      failure('HPE_INVALID_CONSTANT', 'Parse Error'),
      'the answer is not HTTP, a TLS port requires wss://: Parse Error',
    ],
    ['a name that is unknown', failure('ENOTFOUND', 'getaddrinfo ENOTFOUND a'), 'getaddrinfo ENOTFOUND a'],
  ];
  for (const [what, error, text] of cases) {
    it(`names ${what}`, () => {
      expect(describeConnectionError(error)).to.equal(text);
    });
  }

  it('depends on the URL for a closed connection', () => {
    const hungUp = failure('ECONNRESET', 'socket hang up');
    const closed = 'the connection was closed without an answer';
    expect(describeConnectionError(hungUp, true)).to.equal(
      `${closed}; the backend may have rejected the certificate of this agent`,
    );
    expect(describeConnectionError(hungUp, false)).to.equal(`${closed}; a TLS port requires wss://`);
  });

  it('is logged with the URL without user, password, query and fragment', () => {
    expect(shownUrl('wss://ann:secret@[::1]:8081/path?token=secret#secret')).to.equal('wss://[::1]:8081/path');
  });
});

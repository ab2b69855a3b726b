import { expect } from 'chai';
import fc from 'fast-check';
import { keepaliveAlertOutput, keepaliveSilentS, ttlAlertOutput, ttlSilentS } from '../../src/rules/alert-output.ts';

describe('the output of an alert on silence', () => {
  const seconds = fc.nat({ max: 1_000_000_000 });

  it('contains the seconds of silence, which are read back from it', () => {
    fc.assert(
      fc.property(seconds, fc.nat(), (silentS, thresholdMs) => {
        expect(keepaliveSilentS(keepaliveAlertOutput('web-01', silentS, thresholdMs))).to.equal(silentS);
        expect(ttlSilentS(ttlAlertOutput(silentS))).to.equal(silentS);
      }),
    );
  });

  it('is not found in another text', () => {
    for (const text of [
      '',
      'disk full',
      'Keepalive last sent from web-01',
      `${ttlAlertOutput(5)}\n`,
      ` ${ttlAlertOutput(5)}`,
    ]) {
      expect([keepaliveSilentS(text), ttlSilentS(text)]).to.deep.equal([undefined, undefined]);
    }
    expect(ttlSilentS(keepaliveAlertOutput('web-01', 5, 5_000))).to.equal(undefined);
  });
});

import { expect } from 'chai';
import fc from 'fast-check';
import { keepaliveAlertOutput, keepaliveSilentS, ttlAlertOutput, ttlSilentS } from '../../src/rules/alert-output.ts';

describe('the output of an alert about missing results or keepalives', () => {
  const seconds = fc.nat({ max: 1_000_000_000 });

  it('contains the seconds of silence in a form that can be parsed again', () => {
    fc.assert(
      fc.property(seconds, fc.nat(), (silentS, thresholdMs) => {
        expect(keepaliveSilentS(keepaliveAlertOutput('web-01', silentS, thresholdMs))).to.equal(silentS);
        expect(ttlSilentS(ttlAlertOutput(silentS))).to.equal(silentS);
      }),
    );
  });

  it('is not recognised in other texts', () => {
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

import { expect } from 'chai';
import { assertHandlerDelivery, handlerDelivery } from '../../src/resources/handler-delivery.ts';

describe('the annotations of a handler about its delivery', () => {
  const given = (annotations: Record<string, string>) => ({ annotations });

  it('are a duration and a number', () => {
    const annotations = given({ 'mon.io/retry-for': '1m30s', 'mon.io/max-parallel': '100' });
    expect(handlerDelivery(annotations)).to.deep.equal({ retryForMs: 90_000, maxParallel: 100 });
    expect(handlerDelivery({ annotations: undefined })).to.deep.equal({
      retryForMs: undefined,
      maxParallel: undefined,
    });
    assertHandlerDelivery(annotations, 'pipe');
  });

  for (const value of ['', '30', 'x', '-1m', '169h']) {
    it(`are refused with a retry time of "${value}"`, () => {
      expect(() => assertHandlerDelivery(given({ 'mon.io/retry-for': value }), 'pipe')).to.throw(
        'annotation mon.io/retry-for must be a duration of at most 168h, for example 30m',
      );
    });
  }

  for (const value of ['', '0', '101', '1.5', '-1', 'many']) {
    it(`are refused with "${value}" parallel runs`, () => {
      expect(() => assertHandlerDelivery(given({ 'mon.io/max-parallel': value }), 'pipe')).to.throw(
        'annotation mon.io/max-parallel must be an integer from 1 to 100',
      );
    });
  }

  for (const [name, value] of [
    ['mon.io/retry-for', '30m'],
    ['mon.io/max-parallel', '2'],
  ] as const) {
    it(`are refused on a set: ${name}`, () => {
      expect(() => assertHandlerDelivery(given({ [name]: value }), 'set')).to.throw(
        `annotation ${name} must be on the handlers of a set, because a set has no runs of its own`,
      );
    });
  }
});

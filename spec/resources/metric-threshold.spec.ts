import { expect } from 'chai';
import { assertMetricThresholds, metricThresholdWithDefaults } from '../../src/resources/metric-threshold.ts';
import { validationErrorOf } from '../support/validation-error.ts';

const reasonOf = (rule: { min?: string; max?: string }): string | undefined =>
  validationErrorOf(() => assertMetricThresholds([metricThresholdWithDefaults({ name: 'x', thresholds: [rule] })]));

describe('a limit of a metric threshold', () => {
  for (const text of [
    '0',
    '-4.50',
    '1e-4',
    '1E5',
    '+1',
    '.5',
    '1.',
    '1e-999',
    '1_000.5',
    '0x1p-2',
    '0X_A.8P+1',
    ' 1 ',
    '\t2\n',
    'inf',
    '+Inf',
    '-infinity',
    'NaN',
    'nan',
  ]) {
    it(`can be ${JSON.stringify(text)}`, () => {
      expect(reasonOf({ min: text })).to.equal(undefined);
      expect(reasonOf({ max: text })).to.equal(undefined);
    });
  }

  for (const text of [
    'x',
    '.',
    '1e',
    '1e999',
    '-1e309',
    '0x10',
    '0x1.8',
    '0b1',
    '0o7',
    '1__0',
    '_1',
    '1_',
    '1_.5',
    '1._5',
    '--1',
    '+nan',
    'infin',
    '1 2',
    '١',
    '1,5',
  ]) {
    it(`cannot be ${JSON.stringify(text)}`, () => {
      const prefix = 'invalid metric threshold 0: rule 0: ';
      expect(reasonOf({ min: text })).to.equal(`${prefix}Min must be a floating point number`);
      expect(reasonOf({ max: text })).to.equal(`${prefix}Max but be a floating point number`);
    });
  }

  it('is missing when both are blank', () => {
    expect(reasonOf({ min: ' ', max: '' })).to.equal('invalid metric threshold 0: rule 0: One of Min or Max required');
  });
});

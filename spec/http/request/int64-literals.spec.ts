import { expect } from 'chai';
import { clampToInt64 } from '../../../src/http/request/int64-literals.ts';

const LARGEST = '9223372036854775807';
const CLAMPED = '9223372036854774784';

describe('the largest 64-bit integers of a JSON text', () => {
  const cases: [string, string][] = [
    [`[${LARGEST},1]`, `[${CLAMPED},1]`],
    [`{"a":${LARGEST}}`, `{"a":${CLAMPED}}`],
    [`{"a":"${LARGEST}","b":${LARGEST}}`, `{"a":"${LARGEST}","b":${CLAMPED}}`],
    [`{"a":"\\"${LARGEST}","b":${LARGEST}}`, `{"a":"\\"${LARGEST}","b":${CLAMPED}}`],
    [`{"a":"${LARGEST}\\\\","b":${LARGEST}}`, `{"a":"${LARGEST}\\\\","b":${CLAMPED}}`],
    [`{"a":"${LARGEST}`, `{"a":"${LARGEST}`],
    [`[-${LARGEST},${LARGEST}.5,1${LARGEST}]`, `[-${LARGEST},${LARGEST}.5,1${LARGEST}]`],
  ];
  for (const [source, expected] of cases) {
    it(`become the largest float below 2^63, except in strings: ${source}`, () => {
      expect(clampToInt64(source)).to.equal(expected);
    });
  }

  for (const [what, text] of [
    ['letters', 'x'.repeat(10_000_000)],
    ['escapes', '\\n'.repeat(5_000_000)],
  ] as const) {
    it(`are found behind a string of ten million ${what === 'letters' ? 'letters' : 'bytes of escapes'}`, () => {
      expect(clampToInt64(`["${text}",${LARGEST}]`).endsWith(`,${CLAMPED}]`)).to.equal(true);
    });
  }
});

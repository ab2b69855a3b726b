import { expect } from 'chai';
import { numberValue, stringValue } from '../../../src/formats/template/literals.ts';

describe('strings of templates', () => {
  const cases: [string, string][] = [
    ['"a"', 'a'],
    [String.raw`"\"\\\n\t\a\v"`, '"\\\n\t\u0007\v'],
    [String.raw`"\u00e9\U0001F600\x41\101"`, 'é😀AA'],
    [String.raw`"\xc3\xa9"`, 'é'],
    ['`a\\n\rb`', 'a\\nb'],
    [String.raw`'\''`, "'"],
  ];
  for (const [quoted, value] of cases) {
    it(`have the value ${JSON.stringify(value)} for ${JSON.stringify(quoted)}`, () => {
      expect(stringValue(quoted)).to.equal(value);
    });
  }

  for (const quoted of [
    String.raw`"\z"`,
    String.raw`"\x4"`,
    String.raw`"\ud800"`,
    String.raw`"\U00110000"`,
    String.raw`"\777"`,
    String.raw`"\'"`,
  ]) {
    it(`are refused: ${quoted}`, () => {
      expect(stringValue(quoted)).to.equal(undefined);
    });
  }
});

describe('numbers of templates', () => {
  const cases: [string, bigint | number][] = [
    ['0', 0n],
    ['-3', -3n],
    ['010', 8n],
    ['0o17', 15n],
    ['0x1F', 31n],
    ['0b101', 5n],
    ['1_000', 1000n],
    ['9223372036854775808', 9223372036854775808n],
    ['1.5', 1.5],
    ['1e3', 1000],
    ['.5', 0.5],
    ['5.', 5],
  ];
  for (const [text, value] of cases) {
    it(`have the value ${value} for ${text}`, () => {
      expect(numberValue(text)).to.equal(value);
    });
  }

  for (const text of ['+', '', '1e400', '0x', '08', '1__0', '99999999999999999999', '0x1p4']) {
    it(`are refused: ${JSON.stringify(text)}`, () => {
      expect(numberValue(text)).to.equal(undefined);
    });
  }
});

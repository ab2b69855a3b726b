import { expect } from 'chai';
import { parseArray, parseObject, parseSingleObject } from '../../../src/http/request/json-body.ts';
import { validationErrorOf } from '../../support/validation-error.ts';

const MAX_VALUES = 100_000;
const TOO_MANY = 'JSON must have at most 100000 values';
const numbers = (count: number): string => `[${Array.from({ length: count }, () => '1').join(',')}]`;
const errorOf = (parse: (bytes: Buffer) => unknown, text: string) => validationErrorOf(() => parse(Buffer.from(text)));

describe('a JSON body', () => {
  it('is rejected before it is parsed when it has more than 100,000 values', () => {
    const object = `{"a":${numbers(MAX_VALUES)},"not JSON`;
    expect(errorOf(parseObject, object)).to.equal(TOO_MANY);
    expect(errorOf(parseSingleObject, object)).to.equal(TOO_MANY);
    expect(errorOf(parseArray, numbers(MAX_VALUES + 1))).to.equal(TOO_MANY);
  });

  it('is parsed when only the text after its first value has more', () => {
    expect(parseObject(Buffer.from(`{"a":"é"} ${numbers(MAX_VALUES + 1)}`))).to.deep.equal({ a: 'é' });
    expect(parseArray(Buffer.from(`["é"] ${numbers(MAX_VALUES + 1)}`))).to.deep.equal(['é']);
  });

  it('is rejected as incomplete when it ends before its first value does', () => {
    expect(errorOf(parseObject, `{"a":"${'x'.repeat(2_000)}`)).to.equal('unexpected EOF');
  });
});

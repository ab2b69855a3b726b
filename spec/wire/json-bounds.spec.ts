import { expect } from 'chai';
import { decodeEvent } from '../../src/wire/json-codec.ts';
import { assertJsonBounds, endOfFirstValue } from '../../src/wire/json-bounds.ts';
import { InvalidResource } from '../../src/resources/errors.ts';
import { validationErrorOf } from '../support/validation-error.ts';

const MAX_VALUES = 100_000;
const MAX_NAMES = 10_000;
const MAX_PLAIN_BYTES = 4_194_304;
const TOO_MANY_VALUES = 'JSON must have at most 100000 values';
const TOO_MANY_NAMES = 'JSON must have at most 10000 different member names';
const TOO_DEEP = 'JSON must be nested at most 1000 deep';
const TOO_LONG = 'JSON must have at most 4194304 bytes outside strings';

const list = (item: string, count: number): string => `[${Array.from({ length: count }, () => item).join(',')}]`;
const names = (count: number, name = (n: number) => `k${n}`): string =>
  `{${Array.from({ length: count }, (_, n) => `"${name(n)}":1`).join(',')}}`;
const errorOf = (text: string): string | undefined => validationErrorOf(() => endOfFirstValue(Buffer.from(text)));

describe('the bounds of a JSON text', () => {
  const accepted: [string, string][] = [
    ['100,000 values', list('1', MAX_VALUES - 1)],
    ['10,000 different member names', names(MAX_NAMES)],
    ['many members of one name', list('{"a":1}', MAX_VALUES / 2 - 1)],
    ['1,000 levels', '['.repeat(1_000) + ']'.repeat(1_000)],
    ['a long text with all the marks that would count outside of it', `["${'{[,:'.repeat(1_000_000)}"]`],
    ['a text of escaped quotation marks', `["${'\\"'.repeat(1_000_000)},"]`],
    ['a text of backslashes', `["${'\\\\'.repeat(1_000_000)}",1]`],
    ['long texts of every length', list(`"${'x'.repeat(700)}\\\\"`, 1_000)],
  ];
  for (const [what, text] of accepted) {
    it(`admit ${what}`, () => {
      expect(errorOf(text)).to.equal(undefined);
      expect(endOfFirstValue(Buffer.from(`${text} rest`))).to.equal(Buffer.byteLength(text));
    });
  }

  const rejected: [string, string, string][] = [
    ['more than 100,000 values', list('1', MAX_VALUES + 1), TOO_MANY_VALUES],
    ['values after a text of backslashes', `["${'\\\\'.repeat(500)}",${list('1', MAX_VALUES + 1)}]`, TOO_MANY_VALUES],
    [
      'values after an escaped quotation mark',
      `["${'x'.repeat(500)}\\"",${list('1', MAX_VALUES + 1)}]`,
      TOO_MANY_VALUES,
    ],
    ['empty lists', list('[]', MAX_VALUES), TOO_MANY_VALUES],
    ['members of one name', list('{"a":1}', MAX_VALUES), TOO_MANY_VALUES],
    ['more than 10,000 different member names', names(MAX_NAMES + 700), TOO_MANY_NAMES],
    [
      'as many in one object each',
      `[${Array.from({ length: 10_700 }, (_, n) => `{"k${n}":1}`).join(',')}]`,
      TOO_MANY_NAMES,
    ],
    [
      'names that differ in the middle only',
      names(10_700, (n) => `a${'b'.repeat(50)}${n}${'c'.repeat(50)}`),
      TOO_MANY_NAMES,
    ],
    ['more than 1,000 levels', '{"a":'.repeat(1_001), TOO_DEEP],
    ['long numbers', list('9007199254740993.0000000000000000000000000000000000000001', 90_000), TOO_LONG],
  ];
  for (const [what, text, message] of rejected) {
    it(`exclude ${what}`, () => {
      expect(errorOf(text)).to.equal(message);
    });
  }

  it('read no byte after the first value', () => {
    expect(errorOf(`{"a":1}${list('1', 2 * MAX_VALUES)}`)).to.equal(undefined);
  });

  it('stop at the bound, so that a text of any length costs at most as much', () => {
    let read = 0;
    const bytes = Buffer.from(list('1', 1_000_000));
    const counting = new Proxy(bytes, {
      get(target, key) {
        if (typeof key === 'string' && /^\d/.test(key)) read += 1;
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? (value as (...of: unknown[]) => unknown).bind(target) : value;
      },
    });
    expect(() => endOfFirstValue(counting)).to.throw(InvalidResource, TOO_MANY_VALUES);
    expect(read).to.be.below(2 * MAX_VALUES + 10);
  });

  it('are not searched in texts of up to 64 KiB, which cannot exceed them', () => {
    expect(validationErrorOf(() => assertJsonBounds(Buffer.from('['.repeat(65_536))))).to.equal(undefined);
    expect(validationErrorOf(() => assertJsonBounds(Buffer.from('['.repeat(65_537))))).to.equal(TOO_DEEP);
  });

  it('are checked before an event is parsed', () => {
    const payload = Buffer.from(`{"x":${list('1', MAX_VALUES)},"not JSON`);
    expect(validationErrorOf(() => decodeEvent(payload))).to.equal(TOO_MANY_VALUES);
  });

  it('have room for an event with 12,000 metric points of one tag', () => {
    const point = '{"name":"a.b.c","value":1.5,"timestamp":1767268800,"tags":[{"name":"host","value":"a"}]}';
    const entity = '{"entity_class":"agent","metadata":{"name":"a","namespace":"default"}}';
    const event = decodeEvent(Buffer.from(`{"entity":${entity},"metrics":{"points":${list(point, 12_000)}}}`));
    expect(event.metrics?.points).to.have.lengthOf(12_000);
  });

  it('have room for an output of 10 MB', () => {
    const output = 'x'.repeat(10_000_000);
    const entity = { entity_class: 'agent', metadata: { name: 'a', namespace: 'default' } };
    const event = { entity, check: { metadata: { name: 'c', namespace: 'default' }, output } };
    expect(decodeEvent(Buffer.from(JSON.stringify(event))).check?.output).to.have.lengthOf(output.length);
  });

  it(`count ${MAX_PLAIN_BYTES} bytes without those of texts`, () => {
    expect(errorOf(list(`"${'x'.repeat(200)}"`, 90_000))).to.equal(undefined);
  });
});

import { expect } from 'chai';
import fc from 'fast-check';
import { InvalidResource } from '../../src/resources/errors.ts';
import { parseCheckShape } from '../../src/resources/check.ts';
import { CONFIGURATION_KINDS } from '../../src/resources/configuration-kinds.ts';
import { selectable } from '../../src/rules/selectable-fields.ts';
import { parseSelector } from '../../src/rules/selectors.ts';
import { readGolden } from '../support/golden-file.ts';

interface Step {
  request?: { method: string; path: string; body?: object };
  ours?: { status: number; names?: string[] };
}

const LIST = '/api/core/v2/namespaces/default/checks?';

const { steps } = JSON.parse(readGolden('rest/22-selectors.json')) as { steps: Step[] };
const checks = steps.slice(0, 3).map(({ request }) => parseCheckShape(request?.body));

/** Returns the names of the selected objects; undefined when one of the selectors cannot be parsed. */
function selected(query: URLSearchParams): (string | undefined)[] | undefined {
  const [byField, byLabel] = ['fieldSelector', 'labelSelector'].map((parameter) => query.getAll(parameter));
  try {
    const [ofFields, ofLabels] = [byField ?? [], byLabel ?? []].map((sources) => sources.map(parseSelector));
    return checks
      .filter((check) => {
        const { fields, labels } = selectable(CONFIGURATION_KINDS.checks.selectable, check);
        return ofFields?.every((selects) => selects(fields)) && ofLabels?.every((selects) => selects(labels));
      })
      .map(({ metadata }) => metadata.name);
  } catch (error) {
    if (error instanceof InvalidResource) return undefined;
    throw error;
  }
}

describe('a selector', () => {
  for (const { request, ours } of steps) {
    if (request?.path.startsWith(LIST) !== true || ours === undefined || request.path.includes('limit=')) continue;
    const query = new URLSearchParams(request.path.slice(LIST.length));
    it(`${ours.names === undefined ? 'is rejected' : `selects ${ours.names.join(' ') || 'nothing'}`}: ${[...query.values()].join(' and ') || '(empty)'}`, () => {
      expect(selected(query)).to.deep.equal(ours.names);
    });
  }

  const values = new Map([
    ['a.b', 'x'],
    ['list', '[one, two,three]'],
    ['brackets', `x${']'.repeat(200_000)}x`],
    ['true', 'yes'],
  ]);
  const matches = (source: string): boolean => parseSelector(source)((field) => values.get(field));

  const more: [source: string, matches: boolean][] = [
    ['a.b!=x', false],
    ['a.b ==x', true],
    ['a.b == \'x"', true],
    ['a.b == x list matches two', true],
    ['a.b == x list matches four', false],
    ['a.b\t==\n x', true],
    ['"a.b" == x', true],
    ['"a.b" in [x]', true],
    ['a.b in [x y]', true],
    ['a.b in [,,x,]', true],
    ['a.b NotIn [x]', false],
    ['a.b MATCHES x', true],
    ['two in list', true],
    ['one in list && three in list', true],
    ['"tw" in list', false],
    ['a.b in x', true],
    ['a.b in y', false],
    ['x notin brackets', true],
    ['"" in a.b', false],
    ['größe == x', false],
    ['größe != x', true],
  ];
  for (const [source, expected] of more) {
    it(`${expected ? 'matches' : 'does not match'}: ${source}`, () => {
      expect(matches(source)).to.equal(expected);
    });
  }

  const malformed = [
    'a',
    '==',
    '&& a == b',
    'a == b &&',
    'a == b && && a == b',
    'a == b || c == d',
    'a = b',
    'a === b',
    'a == in',
    'in == a',
    'true == a',
    'a == [b]',
    'a in "b"',
    'a in b]',
    'a in [b',
    'a in [[b]]',
    'a in [b,==]',
    'a matches',
    '! a',
    'a ! b',
    'a..b == c',
    'a. == c',
    '.a == c',
    'a.1 == c',
    '1a == c',
    'a-b == c',
    '"a == c',
  ];
  for (const source of malformed) {
    it(`is rejected: ${source}`, () => {
      expect(() => parseSelector(source)).to.throw(InvalidResource);
    });
  }

  it('has at most 100 conditions', () => {
    const joined = (count: number): string => Array.from({ length: count }, () => 'a != b').join(' && ');
    expect(parseSelector(joined(100))(() => 'a')).to.equal(true);
    expect(() => parseSelector(joined(101))).to.throw(InvalidResource, 'a selector must have at most 100 conditions');
  });

  it('reads a field once, however many of its conditions name it', () => {
    let read = 0;
    const selects = parseSelector(Array.from({ length: 50 }, (_, n) => `a != x${n} && "y" notin a`).join(' && '));
    const selected = selects((field) => {
      read += 1;
      return field === 'a' ? 'x,z' : undefined;
    });
    expect([selected, read]).to.deep.equal([true, 1]);
  });

  it('is parsed or rejected with InvalidResource, whatever the text', () => {
    const parts = [
      'a',
      'a.b',
      '"x"',
      "'",
      '==',
      '!=',
      '=',
      '&&',
      '&',
      '[',
      ']',
      ',',
      'in',
      'notin',
      'matches',
      'true',
      ' ',
    ];
    const sources = fc.oneof(
      fc.string(),
      fc.array(fc.constantFrom(...parts)).map((some) => some.join('')),
    );
    fc.assert(
      fc.property(sources, (source) => {
        try {
          expect(parseSelector(source)(() => undefined)).to.be.a('boolean');
        } catch (error) {
          expect(error).to.be.instanceOf(InvalidResource);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  const text = () => fc.string().filter((value) => !/["']/.test(value));
  it('compares exactly, whatever the value', () => {
    fc.assert(
      fc.property(text(), text(), (value, other) => {
        const of = (source: string) => parseSelector(source)((field) => (field === 'f' ? value : undefined));
        expect(of(`f == "${value}"`)).to.equal(true);
        expect(of(`f == "${other}"`)).to.equal(value === other);
        expect(of(`f != "${other}"`)).to.equal(value !== other);
        expect(of(`f matches "${other}"`)).to.equal(value.includes(other));
        expect(of(`f in ["${other}", "${value}"]`)).to.equal(true);
        expect(of(`f notin ["${other}"]`)).to.equal(value !== other);
        expect(of(`g == "${value}" && f == "${value}"`)).to.equal(false);
      }),
    );
  });

  it('treats an absent field as not equal, not a substring and not in a list', () => {
    for (const source of ['f == ""', 'f matches ""', 'f in [""]', '"" in f']) expect(matches(source)).to.equal(false);
    for (const source of ['f != ""', 'f notin [""]', '"" notin f']) expect(matches(source)).to.equal(true);
  });
});

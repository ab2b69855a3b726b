import { expect } from 'chai';
import fc from 'fast-check';
import { mergePatch, parseMergePatch } from '../../../src/http/request/merge-patch.ts';
import { InvalidResource } from '../../../src/resources/errors.ts';

/** Source: RFC 7396, appendix A. */
const OF_THE_RFC: [target: string, patch: string, result: string][] = [
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', '{}'],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['["a","b"]', '["c","d"]', '["c","d"]'],
  ['{"a":"b"}', '["c"]', '["c"]'],
  ['{"a":"foo"}', 'null', 'null'],
  ['{"a":"foo"}', '"bar"', '"bar"'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
  ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
];

const anyJson = () => fc.jsonValue({ maxDepth: 4 });

describe('a merge patch', () => {
  for (const [target, patch, result] of OF_THE_RFC) {
    it(`${patch} changes ${target} to ${result}`, () => {
      expect(mergePatch(JSON.parse(target), JSON.parse(patch))).to.deep.equal(JSON.parse(result));
    });
  }

  it('changes nothing when it is applied again, and does not modify its target', () => {
    fc.assert(
      fc.property(anyJson(), anyJson(), (target, patch) => {
        const before = JSON.stringify(target);
        const once = mergePatch(target, patch);
        expect(mergePatch(once, patch)).to.deep.equal(once);
        expect(JSON.stringify(target)).to.equal(before);
      }),
    );
  });

  it('treats __proto__ as an ordinary member, which no object inherits', () => {
    const patch: unknown = JSON.parse('{"__proto__":{"x":1},"constructor":{"prototype":{"y":2}}}');
    const merged = mergePatch(JSON.parse('{"__proto__":{"z":3}}'), patch) as Record<string, unknown>;
    expect(JSON.stringify(merged)).to.equal('{"__proto__":{"z":3,"x":1},"constructor":{"prototype":{"y":2}}}');
    expect(Object.getPrototypeOf(merged)).to.equal(Object.prototype);
    expect({}).to.not.have.any.keys('x', 'y', 'z');
  });
});

describe('the body of a PATCH', () => {
  const parse = (text: string, type: string | undefined = 'application/merge-patch+json') =>
    parseMergePatch(Buffer.from(text), type);

  const ACCEPTED = ['application/merge-patch+json', 'application/merge-patch+json; charset=utf-8', ''];
  for (const type of ACCEPTED) {
    it(`is accepted with ${type === '' ? 'an empty content type' : `the content type ${type}`}`, () => {
      expect(parse('{"a":null}', type)).to.deep.equal({ a: null });
    });
  }

  const refused: [string, string][] = [
    [
      'application/json',
      'invalid Content-Type header: application/json.  Allowed values: application/merge-patch+json',
    ],
    [
      'Application/Merge-Patch+JSON',
      'invalid Content-Type header: Application/Merge-Patch+JSON.  Allowed values: application/merge-patch+json',
    ],
    [
      'application/merge-patch+json; q=1',
      'invalid Content-Type header: application/merge-patch+json; q=1.  Allowed values: application/merge-patch+json',
    ],
    ['application/json-patch+json', 'JSON Patch is not supported yet. Allowed values: application/merge-patch+json'],
  ];
  for (const [type, message] of refused) {
    it(`is rejected with the content type ${type}, whatever its content`, () => {
      expect(() => parse('nonsense', type)).to.throw(InvalidResource, message);
    });
  }

  it('is rejected without a content type, because it then counts as a form', () => {
    expect(() => parseMergePatch(Buffer.from('{}'), undefined)).to.throw(
      InvalidResource,
      'invalid Content-Type header: application/x-www-form-urlencoded.  Allowed values: application/merge-patch+json',
    );
  });

  const deep = `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`;
  for (const text of ['', 'null', '[]', '"x"', '5', '{}{}', '{} x', '{"a":', '{a:1}', deep]) {
    it(`must be a JSON object of bounded depth, not ${text.length > 20 ? 'one that is 5,000 levels deep' : `"${text}"`}`, () => {
      expect(() => parse(text)).to.throw(InvalidResource);
    });
  }

  it('can be merged when it is 1,000 levels deep', () => {
    const depth = 1_000;
    const patch = parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
    expect(mergePatch({}, patch)).to.have.property('a');
  });
});

import { expect } from 'chai';
import { assertConditions, ifNoneMatchIncludes } from '../../../src/http/request/conditions.ts';
import { StaleRevision } from '../../../src/resources/errors.ts';

const TAG = '"0123456789abcdef"';

describe('If-None-Match', () => {
  const cases: [ifNoneMatch: string | undefined, ifNoneMatchIncludes: boolean][] = [
    [TAG, true],
    [`W/${TAG}`, true],
    [`"other", ${TAG}`, true],
    ['*', true],
    [undefined, false],
    ['', false],
    ['"other"', false],
    [TAG.slice(1, -1), false],
    [`bad, ${TAG}`, false],
  ];
  for (const [ifNoneMatch, expected] of cases) {
    it(`${expected ? 'matches' : 'does not match'} the tag when it is ${ifNoneMatch ?? 'absent'}`, () => {
      expect(ifNoneMatchIncludes({ ifMatch: undefined, ifNoneMatch }, TAG)).to.equal(expected);
    });
  }
});

type Case = [ifMatch: string | undefined, ifNoneMatch: string | undefined];

describe('the conditions of a write', () => {
  const holds = ([ifMatch, ifNoneMatch]: Case): boolean => {
    try {
      assertConditions({ ifMatch, ifNoneMatch }, TAG);
      return true;
    } catch (error) {
      if (error instanceof StaleRevision) return false;
      throw error;
    }
  };
  const shown = ([ifMatch, ifNoneMatch]: Case): string =>
    `If-Match ${ifMatch ?? 'absent'}, If-None-Match ${ifNoneMatch ?? 'absent'}`;

  const met: Case[] = [
    [undefined, undefined],
    ['', ''],
    [TAG, undefined],
    ['*', undefined],
    [`"nope", ${TAG}`, undefined],
    [`"nope",${TAG}`, undefined],
    [`"nope"\t, , ${TAG} `, undefined],
    ['"nope", *', undefined],
    [` ${TAG} `, undefined],
    [undefined, '"other"'],
    [undefined, `bad, ${TAG}`],
    [undefined, 'W/"other"'],
    [TAG, '"other"'],
  ];
  for (const each of met) {
    it(`are met by ${shown(each)}`, () => {
      expect(holds(each)).to.equal(true);
    });
  }

  const failed: Case[] = [
    ['"nope"', undefined],
    [`W/${TAG}`, undefined],
    ['nope', undefined],
    [`nope, ${TAG}`, undefined],
    ['nope, *', undefined],
    [TAG.slice(0, -1), undefined],
    [TAG.slice(1, -1), undefined],
    [TAG.toUpperCase(), undefined],
    [undefined, '*'],
    [undefined, TAG],
    [undefined, `W/${TAG}`],
    [undefined, `"a", ${TAG}`],
    ['*', TAG],
    ['"nope"', '"other"'],
  ];
  for (const each of failed) {
    it(`are not met by ${shown(each)}`, () => {
      expect(holds(each)).to.equal(false);
    });
  }
});

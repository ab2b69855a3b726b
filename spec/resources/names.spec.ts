import { expect } from 'chai';
import fc from 'fast-check';
import {
  assertAssetName,
  assertName,
  assertSubname,
  assertUsername,
  isName,
  isUuid,
} from '../../src/resources/names.ts';
import { validationErrorOf } from '../support/validation-error.ts';

const SPECIAL = 'cannot contain spaces or special characters';

describe('a name', () => {
  for (const name of ['a', 'A.b:c_d-9', '...', '_', 'n'.repeat(600)]) {
    it(`can be ${name.slice(0, 20)}`, () => {
      expect(validationErrorOf(() => assertName(name, 'check name'))).to.equal(undefined);
      expect(isName(name)).to.equal(true);
    });
  }

  const refused: [string, string][] = [
    ['', 'check name must not be empty'],
    ['a b', `check name ${SPECIAL}`],
    ['a/b', `check name ${SPECIAL}`],
    ['a\n', `check name ${SPECIAL}`],
    ['é', `check name ${SPECIAL}`],
    ['a#b', `check name ${SPECIAL}`],
    ['.', 'check name must not be "." or ".."'],
    ['..', 'check name must not be "." or ".."'],
    ['n'.repeat(601), 'check name must be at most 600 characters'],
  ];
  for (const [name, message] of refused) {
    it(`may not be ${JSON.stringify(name.slice(0, 20))}: ${message}`, () => {
      expect(validationErrorOf(() => assertName(name, 'check name'))).to.equal(message);
      expect(isName(name)).to.equal(false);
    });
  }

  it('is valid for isName exactly if assertName accepts it', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 5 }), (text) => {
        expect(isName(text)).to.equal(validationErrorOf(() => assertName(text, 'name')) === undefined);
      }),
    );
  });
});

describe('the name of a role or binding', () => {
  const cases: [string, string | undefined][] = [
    ['system:agent', undefined],
    ['a:b:c', `the Role name ${SPECIAL}`],
    [':a', `the Role name ${SPECIAL}`],
    ['a:', `the Role name ${SPECIAL}`],
    ['', 'the Role name must not be empty'],
  ];
  for (const [name, message] of cases) {
    it(`${message === undefined ? 'can' : 'cannot'} be ${JSON.stringify(name.slice(0, 20))}`, () => {
      expect(validationErrorOf(() => assertSubname(name, 'the Role name'))).to.equal(message);
    });
  }
});

describe('the name of a role or binding that matches its pattern almost to the end', () => {
  it('is rejected in linear time, in which its length does not matter', () => {
    const name = `${'n'.repeat(500_000)}!`;
    expect(validationErrorOf(() => assertSubname(name, 'the Role name'))).to.equal(`the Role name ${SPECIAL}`);
  });
});

describe('a user name', () => {
  const cases: [string, string | undefined][] = [
    ['agent', undefined],
    ['a.b_c-1', undefined],
    ['Admin', `username ${SPECIAL}`],
    ['a b', `username ${SPECIAL}`],
    ['', 'username must not be empty'],
  ];
  for (const [name, message] of cases) {
    it(`${message === undefined ? 'can' : 'cannot'} be ${JSON.stringify(name.slice(0, 20))}`, () => {
      expect(validationErrorOf(() => assertUsername(name))).to.equal(message);
    });
  }
});

describe('an asset name', () => {
  const cases: [string, string | undefined][] = [
    ['acme/check-disk:1.0', undefined],
    ['a b', "asset's name may only contain letters, forward slashes, underscores, dashes and numbers"],
    ['', "asset's name cannot be empty"],
    ['a//b', `asset's name must not have a segment that is empty, "." or ".."`],
    ['../dev/x', `asset's name must not have a segment that is empty, "." or ".."`],
    [`${'a/'.repeat(300)}b`, "asset's name must be at most 600 characters"],
  ];
  for (const [name, message] of cases) {
    it(`${message === undefined ? 'can' : 'cannot'} be ${JSON.stringify(name.slice(0, 20))}`, () => {
      expect(validationErrorOf(() => assertAssetName(name))).to.equal(message);
    });
  }
});

describe('a UUID', () => {
  const PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

  it('has 32 hexadecimal digits in either case and four hyphens in their places', () => {
    const near = fc
      .tuple(fc.uuid(), fc.nat(36), fc.string({ minLength: 0, maxLength: 1, unit: 'binary-ascii' }), fc.boolean())
      .map(([uuid, at, other, isUpper]) => {
        const changed = uuid.slice(0, at) + other + uuid.slice(at + 1);
        return isUpper ? changed.toUpperCase() : changed;
      });
    fc.assert(
      fc.property(fc.oneof(near, fc.uuid(), fc.string()), (text) => {
        expect(isUuid(text)).to.equal(PATTERN.test(text));
      }),
    );
  });
});

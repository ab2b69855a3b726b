import { expect } from 'chai';
import { type Check, parseCheckShape } from '../../src/resources/check.ts';
import { parseHookList, withHooks, withoutHook } from '../../src/resources/check-hooks.ts';
import { NotFound } from '../../src/resources/errors.ts';
import { validationErrorOf } from '../support/validation-error.ts';

const checkWith = (check_hooks: Record<string, string[] | null>[] | null): Check =>
  parseCheckShape({ metadata: { name: 'c', namespace: 'default' }, interval: 60, check_hooks });

describe('a list of hooks', () => {
  for (const type of ['0', '9', '10', '255', 'ok', 'warning', 'critical', 'unknown', 'non-zero']) {
    it(`can be of type ${type}`, () => {
      expect(parseHookList({ [type]: ['h1', 'h2'] }, type)).to.deep.equal({ type, names: ['h1', 'h2'] });
      expect(parseHookList({ [type]: null }, type)).to.deep.equal({ type, names: [] });
    });
  }

  for (const type of ['256', '1000', '00', '01', '-1', '1.0', 'OK', 'nonzero', 'error', '']) {
    it(`cannot be of type ${JSON.stringify(type)}`, () => {
      expect(validationErrorOf(() => parseHookList({ [type]: ['h'] }, type))).to.equal(
        'valid check hook types are "0"-"255", "ok", "warning", "critical", "unknown", and "non-zero"',
      );
    });
  }

  const refused: [unknown, string][] = [
    [{}, 'body must have exactly one hook type'],
    [{ ok: ['h'], warning: ['h'] }, 'body must have exactly one hook type'],
    [{ warning: ['h'] }, 'the hook type of the body (warning) does not match the hook type of the URI (ok)'],
    [{ ok: 'h' }, 'ok must be array or null'],
    [{ ok: [1] }, 'ok.0 must be string or null'],
    [{ ok: [''] }, 'hook name must not be empty'],
    [{ ok: ['h', 'a b'] }, 'hook name cannot contain spaces or special characters'],
    [[], 'body must be object'],
  ];
  for (const [body, message] of refused) {
    it(`is rejected when the body is ${JSON.stringify(body)}`, () => {
      expect(validationErrorOf(() => parseHookList(body, 'ok'))).to.equal(message);
    });
  }
});

describe('a check', () => {
  it('gets new hooks of a type after its existing ones, without duplicates, and keeps its other types in place', () => {
    const check = checkWith([{ ok: ['a'] }, { critical: ['b'] }]);
    expect(withHooks(check, { type: 'ok', names: ['b', 'a', 'b'] }).check_hooks).to.deep.equal([
      { ok: ['a', 'b'] },
      { critical: ['b'] },
    ]);
    expect(check.check_hooks).to.deep.equal([{ ok: ['a'] }, { critical: ['b'] }]);
  });

  it('gets the hooks of a new type as they are sent, with repeated names', () => {
    const added = withHooks(checkWith(null), { type: '255', names: ['h2', 'h2'] });
    expect(added.check_hooks).to.deep.equal([{ '255': ['h2', 'h2'] }]);
    expect(withHooks(added, { type: '255', names: ['h3', 'h2', 'h3'] }).check_hooks).to.deep.equal([
      { '255': ['h2', 'h2', 'h3'] },
    ]);
  });

  it('gets the first list of a type at the end, also when the list is empty', () => {
    expect(withHooks(checkWith(null), { type: 'ok', names: ['a'] }).check_hooks).to.deep.equal([{ ok: ['a'] }]);
    const empty = withHooks(checkWith([{ ok: ['a'] }]), { type: '1', names: [] });
    expect(empty.check_hooks).to.deep.equal([{ ok: ['a'] }, { '1': null }]);
    expect(withHooks(empty, { type: '1', names: ['b'] }).check_hooks).to.deep.equal([{ ok: ['a'] }, { '1': ['b'] }]);
  });

  it('loses a hook from every list of the type, and the lists that are then empty', () => {
    const check = checkWith([{ ok: ['a', 'b'] }, { warning: ['a'] }, { ok: ['a'] }]);
    expect(withoutHook(check, 'ok', 'a').check_hooks).to.deep.equal([{ ok: ['b'] }, { warning: ['a'] }]);
    expect(withoutHook(checkWith([{ ok: ['a'] }]), 'ok', 'a').check_hooks).to.equal(null);
  });

  for (const [type, name] of [
    ['ok', 'b'],
    ['warning', 'a'],
    ['unknown', 'a'],
    ['constructor', 'name'],
  ] as const) {
    it(`cannot lose hook ${name} of ${type}, which it does not have`, () => {
      const check = checkWith([{ ok: ['a'] }, { unknown: null }]);
      expect(() => withoutHook(check, type, name)).to.throw(NotFound);
    });
  }
});

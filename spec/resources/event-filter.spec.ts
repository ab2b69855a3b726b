import { expect } from 'chai';
import { assertEventFilter, parseEventFilterShape } from '../../src/resources/event-filter.ts';
import { testDefaults, testValidation } from './validation-cases.ts';

describe('an event filter', () => {
  const valid = { metadata: { name: 'f', namespace: 'default' }, action: 'allow', expressions: ['true'] };
  testValidation({ parse: parseEventFilterShape, assert: assertEventFilter, valid }, [
    [{}, undefined],
    [{ action: 'deny', expressions: [''], when: { days: { all: [{ begin: '3:00 PM', end: '4:00PM' }] } } }, undefined],
    [{ metadata: { name: 'a/b' }, action: 'x' }, 'filter name cannot contain spaces or special characters'],
    [{ action: null, expressions: [] }, "action '' is not valid"],
    [{ action: 'Allow' }, "action 'Allow' is not valid"],
    [{ expressions: null }, 'filter must have one or more expressions'],
    [{ expressions: ['true', 'x ==='] }, 'syntax error in expression 1: Line 1:6 Unexpected end of input'],
    [{ metadata: { name: 'f' } }, 'namespace must be set'],
  ]);

  it('is refused with an unreadable time in `when`', () => {
    const when = { days: { monday: [{ begin: '15:00', end: '4:00PM' }] } };
    const filter = parseEventFilterShape({ ...valid, when });
    expect(() => assertEventFilter(filter)).to.throw('when time "15:00" must be written like 5:00PM');
  });

  testDefaults(parseEventFilterShape, { metadata: {}, expressions: null, runtime_assets: null });
});

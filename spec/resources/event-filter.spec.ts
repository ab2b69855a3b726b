import { assertEventFilter, parseEventFilterShape } from '../../src/resources/event-filter.ts';
import { testDefaults, testValidation } from './validation-cases.ts';

describe('an event filter', () => {
  const valid = { metadata: { name: 'f', namespace: 'default' }, action: 'allow', expressions: ['true'] };
  testValidation({ parse: parseEventFilterShape, assert: assertEventFilter, valid }, [
    [{}, undefined],
    [{ action: 'deny', expressions: [''], when: { days: { all: [{ begin: 'zz', end: 'y' }] } } }, undefined],
    [{ metadata: { name: 'a/b' }, action: 'x' }, 'filter name cannot contain spaces or special characters'],
    [{ action: null, expressions: [] }, "action '' is not valid"],
    [{ action: 'Allow' }, "action 'Allow' is not valid"],
    [{ expressions: null }, 'filter must have one or more expressions'],
    [{ expressions: ['true', 'x ==='] }, 'syntax error in expression 1: Line 1:6 Unexpected end of input'],
    [{ metadata: { name: 'f' } }, 'namespace must be set'],
  ]);
  testDefaults(parseEventFilterShape, { metadata: {}, expressions: null, runtime_assets: null });
});

import { assertHook, parseHookShape } from '../../src/resources/hook.ts';
import { testDefaults, testValidation } from './validation-cases.ts';

describe('a hook', () => {
  const valid = { metadata: { name: 'h', namespace: 'default' }, command: 'true', timeout: 1 };
  testValidation({ parse: parseHookShape, assert: assertHook, valid }, [
    [{}, undefined],
    [{ runtime_assets: ['a b'] }, undefined],
    [{ metadata: { namespace: 'default' } }, 'hook name must not be empty'],
    [{ metadata: { name: 'a b', namespace: 'default' } }, 'hook name cannot contain spaces or special characters'],
    [{ command: '', timeout: 0 }, 'command cannot be empty'],
    [{ timeout: 0 }, 'hook timeout must be greater than 0'],
    [{ metadata: { name: 'h' } }, 'namespace must be set'],
  ]);
  testDefaults(parseHookShape, { metadata: {}, timeout: 0, stdin: false, runtime_assets: null });
});

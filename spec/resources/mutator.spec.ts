import { assertMutator, parseMutatorShape } from '../../src/resources/mutator.ts';
import { testDefaults, testValidation } from './validation-cases.ts';

describe('a mutator', () => {
  const valid = { metadata: { name: 'm', namespace: 'default' }, command: 'cat' };
  testValidation({ parse: parseMutatorShape, assert: assertMutator, valid }, [
    [{}, undefined],
    [{ type: 'pipe', eval: 'x' }, undefined],
    [{ command: '', type: 'javascript', eval: 'syntax error (' }, undefined],
    [{ metadata: { name: '' }, command: '' }, 'mutator name must not be empty'],
    [{ command: '' }, 'mutator command or eval must be set'],
    [{ type: 'javascript' }, '"command" used with javascript mutator, should be "eval"'],
    [{ metadata: { name: 'm' }, type: 'nope' }, 'namespace must be set'],
    [{ type: 'nope' }, 'invalid mutator type "nope", valid types are "javascript, pipe"'],
  ]);
  testDefaults(parseMutatorShape, { metadata: {}, timeout: 0, env_vars: null, runtime_assets: null, secrets: null });
});

import { assertPipeline, parsePipelineShape } from '../../src/resources/pipeline.ts';
import { testDefaults, testValidation } from './validation-cases.ts';

describe('a pipeline', () => {
  const reference = (type: string, more: object = {}) => ({ name: 'n', type, api_version: 'core/v2', ...more });
  const handler = reference('Handler');
  const workflow = (more: object) => ({ workflows: [{ name: 'w', handler, ...more }] });
  const valid = { metadata: { name: 'p', namespace: 'default' } };
  testValidation({ parse: parsePipelineShape, assert: assertPipeline, valid }, [
    [{}, undefined],
    [workflow({ filters: [reference('EventFilter')], mutator: reference('Mutator') }), undefined],
    [{ metadata: { namespace: 'default' } }, 'name must not be empty'],
    [{ metadata: { name: 'p' } }, 'namespace must be set'],
    [{ workflows: [{}] }, 'workflow name must not be empty'],
    [workflow({ handler: null }), 'workflow handler must be set'],
    [workflow({ handler: {} }), 'workflow handler name must not be empty'],
    [workflow({ handler: reference('') }), 'workflow handler type must be set'],
    [workflow({ handler: { name: 'n', type: 'Handler' } }), 'workflow handler api_version must be set'],
    [
      workflow({ handler: reference('Handler', { api_version: 'core/v1' }) }),
      'workflow handler resource type not capable of handling events: core/v1.Handler',
    ],
    [
      workflow({ handler: null, filters: [handler] }),
      'workflow filter resource type not capable of filtering events: core/v2.Handler',
    ],
    [workflow({ mutator: handler }), 'workflow mutator resource type not capable of mutating events: core/v2.Handler'],
  ]);
  testDefaults(parsePipelineShape, { metadata: {}, workflows: null });
});

import { expect } from 'chai';
import fc from 'fast-check';
import { parseApiKeyShape } from '../../src/resources/api-key.ts';
import { parseAssetShape } from '../../src/resources/asset.ts';
import { parseCheckShape } from '../../src/resources/check.ts';
import { parseEntityConfig, parseEntityShape } from '../../src/resources/entity.ts';
import { parseEventFilterShape } from '../../src/resources/event-filter.ts';
import { parseEvent } from '../../src/resources/event.ts';
import { parseHandlerShape } from '../../src/resources/handler.ts';
import { parseHookShape } from '../../src/resources/hook.ts';
import { parseMutatorShape } from '../../src/resources/mutator.ts';
import { parseNamespaceShape } from '../../src/resources/namespace.ts';
import { parsePipelineShape } from '../../src/resources/pipeline.ts';
import { parseClusterRoleBindingShape, parseRoleBindingShape } from '../../src/resources/role-binding.ts';
import { parseClusterRoleShape, parseRoleShape } from '../../src/resources/role.ts';
import { parseUser } from '../../src/resources/user.ts';
import { validationErrorOf } from '../support/validation-error.ts';

const PARSERS: Readonly<Record<string, (value: unknown) => unknown>> = {
  'an API key': parseApiKeyShape,
  'an asset': parseAssetShape,
  'a check': parseCheckShape,
  'an entity': parseEntityShape,
  'an entity configuration': parseEntityConfig,
  'an event': parseEvent,
  'an event filter': parseEventFilterShape,
  'a handler': parseHandlerShape,
  'a hook': parseHookShape,
  'a mutator': parseMutatorShape,
  'a namespace': parseNamespaceShape,
  'a pipeline': parsePipelineShape,
  'a role': parseRoleShape,
  'a cluster role': parseClusterRoleShape,
  'a role binding': parseRoleBindingShape,
  'a cluster role binding': parseClusterRoleBindingShape,
  'a user': parseUser,
};

/** Objects whose members have the names of members of resources. */
const familiar = fc.dictionary(
  fc.constantFrom(
    'metadata',
    'name',
    'rules',
    'workflows',
    'builds',
    'expressions',
    'subjects',
    'role_ref',
    'username',
    'groups',
    'days',
    'system',
    'labels',
  ),
  fc.jsonValue({ maxDepth: 3 }),
);

describe('a resource parser', () => {
  for (const [what, parse] of Object.entries(PARSERS)) {
    it(`accepts or rejects ${what} with InvalidResource, whatever the JSON`, () => {
      fc.assert(fc.property(fc.oneof(fc.jsonValue(), familiar), (value) => void validationErrorOf(() => parse(value))));
    });

    for (const value of [null, 'x', 5, true, []]) {
      it(`rejects ${what} that is ${JSON.stringify(value)}`, () => {
        expect(validationErrorOf(() => parse(value))).to.be.a('string');
      });
    }
  }

  it('names the first invalid member and its rule', () => {
    expect(validationErrorOf(() => parseCheckShape({ interval: -1 }))).to.equal('interval must be >= 0');
    expect(validationErrorOf(() => parseEvent({ check: { status: 'x' } }))).to.match(/^check\.status must be /);
    expect(validationErrorOf(() => parseCheckShape({ metadata: { labels: { 'a/b~c': 1 } } }))).to.equal(
      'metadata.labels.a/b~c must be string or null',
    );
  });
});

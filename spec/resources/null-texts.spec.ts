import { expect } from 'chai';
import { parseAdhocRequest } from '../../src/resources/adhoc-request.ts';
import { parseAssetShape } from '../../src/resources/asset.ts';
import { parseCheckShape } from '../../src/resources/check.ts';
import { parseEntityConfig, parseEntityShape } from '../../src/resources/entity.ts';
import { parseEventFilterShape } from '../../src/resources/event-filter.ts';
import { parseEventShape } from '../../src/resources/event.ts';
import { parseHandlerShape } from '../../src/resources/handler.ts';
import { parseHookShape } from '../../src/resources/hook.ts';
import { parseMutatorShape } from '../../src/resources/mutator.ts';
import { parseRoleShape } from '../../src/resources/role.ts';
import { parseUserRequest } from '../../src/resources/user.ts';
import { decodeCheckRequest, decodeEvent } from '../../src/wire/json-codec.ts';
import { at } from '../support/json-path.ts';

const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const SENT = ['a', null, 'b'];
const KEPT = ['a', '', 'b'];

/** Returns the smallest object with `value` at a path such as `rules.0.verbs`. */
const bodyWith = (path: string, value: unknown): unknown =>
  path.split('.').reduceRight((inner: unknown, name) => (name === '0' ? [inner] : { [name]: inner }), value);

const LISTS: [kind: string, parse: (body: unknown) => unknown, paths: string][] = [
  ['a check', parseCheckShape, 'handlers runtime_assets subscriptions output_metric_handlers env_vars'],
  ['a check', parseCheckShape, 'proxy_requests.entity_attributes check_hooks.0.ok subdues.0.repeat'],
  ['an asset', parseAssetShape, 'filters builds.0.filters'],
  ['an entity', parseEntityShape, 'subscriptions redact keepalive_handlers system.network.interfaces.0.addresses'],
  ['the configuration of an entity', parseEntityConfig, 'subscriptions redact keepalive_handlers'],
  ['an event', parseEventShape, 'check.handlers check.silenced check.hooks.0.runtime_assets metrics.handlers'],
  ['a filter', parseEventFilterShape, 'expressions runtime_assets'],
  ['a handler', parseHandlerShape, 'handlers filters env_vars runtime_assets'],
  ['a hook', parseHookShape, 'runtime_assets'],
  ['a mutator', parseMutatorShape, 'env_vars runtime_assets'],
  ['a role', parseRoleShape, 'rules.0.verbs rules.0.resources rules.0.resource_names'],
  ['a user', (body) => parseUserRequest(body).user, 'groups'],
  ['a request to run a check', parseAdhocRequest, 'subscriptions'],
];

describe('null in a list of strings', () => {
  for (const [kind, parse, paths] of LISTS) {
    for (const path of paths.split(' ')) {
      it(`is an empty text in ${path} of ${kind}`, () => {
        expect(at(parse(bodyWith(path, SENT)), ...path.split('.'))).to.deep.equal(KEPT);
        expect(at(parse(bodyWith(path, ['c'])), ...path.split('.'))).to.deep.equal(['c']);
      });
    }
  }

  it('is an empty text in the secrets of a check request', () => {
    const { secrets } = decodeCheckRequest(bytes({ config: {}, secrets: SENT }));
    expect(secrets).to.deep.equal(KEPT);
  });

  it('does not make the backend drop the event of an agent', () => {
    const event = decodeEvent(
      bytes({
        entity: {
          entity_class: 'agent',
          subscriptions: SENT,
          system: { network: { interfaces: [{ addresses: SENT }] } },
          metadata: { name: 'web', namespace: 'default' },
        },
        check: { handlers: SENT, interval: 1, metadata: { name: 'disk', namespace: 'default' } },
        metrics: { handlers: SENT, points: [{ name: 'p', value: 1, tags: [null, { name: 'n', value: 'v' }] }] },
      }),
    );
    expect(event.check?.handlers).to.deep.equal(KEPT);
    expect(event.entity?.subscriptions).to.deep.equal(KEPT);
    expect(event.entity?.system.network.interfaces?.[0]?.addresses).to.deep.equal(KEPT);
    expect(event.metrics?.handlers).to.deep.equal(KEPT);
  });
});

describe('null in the tags of a metric point', () => {
  it('is a tag without name and value', () => {
    const { metrics } = parseEventShape({ metrics: { points: [{ tags: [null, { name: 'n', value: 'v' }] }] } });
    expect(metrics?.points?.[0]?.tags).to.deep.equal([
      { name: '', value: '' },
      { name: 'n', value: 'v' },
    ]);
  });
});

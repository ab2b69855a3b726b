import { expect } from 'chai';
import { checkRequest } from '../../../src/actors/schedules/check-request.ts';
import { assetWithDefaults } from '../../../src/resources/asset.ts';
import { assertCheck, parseCheckShape } from '../../../src/resources/check.ts';
import { InvalidResource } from '../../../src/resources/errors.ts';
import { parseEvent } from '../../../src/resources/event.ts';
import { hookWithDefaults } from '../../../src/resources/hook.ts';
import { Decision, type TableReader } from '../../../src/store/commit/decision.ts';
import { resourceKey } from '../../../src/store/encoding/keyspace.ts';

const ISSUED_S = 1_700_000_000;
const NOTHING = { get: () => undefined, keys: () => new Set<string>() };

describe('a check request', () => {
  const decision = new Decision(NOTHING);

  const put = (kind: 'assets' | 'hooks', namespace: string, name: string, resource: object): void => {
    decision.put('resources', resourceKey(kind, namespace, name), resource);
  };

  before(() => {
    for (const name of ['tools', 'tools-more', 'acme/ps', 'other']) {
      put('assets', 'default', name, assetWithDefaults({ metadata: { name, namespace: 'default' }, url: name }));
    }
    put('assets', 'dev', 'tools', assetWithDefaults({ metadata: { name: 'tools', namespace: 'dev' } }));
    for (const [name, runtime_assets] of Object.entries({ ps: ['acme/ps', 'none'], df: [''], free: null })) {
      const hook = { metadata: { name, namespace: 'default' }, command: name, timeout: 10, runtime_assets };
      put('hooks', 'default', name, hookWithDefaults(hook));
    }
  });

  const requestOf = (members: object, reader: TableReader = decision) =>
    checkRequest(
      reader,
      parseCheckShape({ metadata: { name: 'c', namespace: 'default' }, interval: 60, ...members }),
      ISSUED_S,
    ).request;
  const namesOf = (resources: readonly { metadata: { name?: string | undefined } }[] | null): unknown =>
    resources?.map(({ metadata }) => metadata.name) ?? null;

  it('contains only the check when the check needs no hooks or assets', () => {
    const { config, ...parts } = requestOf({});
    expect(config.metadata.name).to.equal('c');
    expect(parts).to.deep.equal({ assets: null, hooks: null, issued: ISSUED_S, hook_assets: {} });
  });

  const assets: [string[], string[] | null][] = [
    [['tools'], ['tools']],
    [['tools-more', 'none', 'tools-more'], ['tools-more']],
    [
      ['tools-more', 'tools', 'acme/ps'],
      ['acme/ps', 'tools', 'tools-more'],
    ],
    [['acme/'], null],
    [['none'], null],
    [['', '..', 'a b', 'x'.repeat(10_000)], null],
  ];
  for (const [needed, found] of assets) {
    it(`contains the assets ${JSON.stringify(found)} for ${JSON.stringify(needed).slice(0, 60)}`, () => {
      const request = requestOf({ runtime_assets: needed });
      expect(namesOf(request.assets)).to.deep.equal(found);
    });
  }

  it('contains each hook once, and the assets of hooks that need some', () => {
    const check_hooks = [{ critical: ['ps', 'gone', 'free'] }, { 'non-zero': ['ps', 'df'] }, { ok: null }];
    const { hooks, hook_assets: hookAssets } = requestOf({ check_hooks });
    expect(namesOf(hooks)).to.deep.equal(['df', 'free', 'ps']);
    expect(Object.keys(hookAssets)).to.deep.equal(['ps']);
    expect(namesOf(hookAssets['ps']?.assets ?? null)).to.deep.equal(['acme/ps']);
  });

  it('contains no hook for an invalid hook name', () => {
    expect(requestOf({ check_hooks: [{ ok: ['', '..', 'a/b', 'x'.repeat(10_000)] }] }).hooks).to.equal(null);
  });

  const MANY = Array.from({ length: 1_000 }, (_, n) => `many-${n}`);
  const putMany = (kind: 'assets' | 'hooks', resource: (metadata: object) => object): void => {
    for (const name of MANY) put(kind, 'default', name, resource({ name, namespace: 'default' }));
  };

  it('is refused as too long before more than 2 MiB of assets and hooks are read', () => {
    putMany('assets', (metadata) => assetWithDefaults({ metadata, url: 'x'.repeat(100_000) }));
    let read = 0;
    const counted: TableReader = {
      get: (table, key) => {
        read += 1;
        return decision.get(table, key);
      },
    };
    expect(() => requestOf({ runtime_assets: MANY }, counted)).to.throw(
      InvalidResource,
      'too long: the assets and hooks of the check exceed 2097152 bytes',
    );
    expect(read).to.equal(21);
  });

  it('is refused as too long when its hooks lead to more than 5,000 assets, also to ones that do not exist', () => {
    const gone = MANY.slice(0, 100).map((name) => `${name}-gone`);
    putMany('hooks', (metadata) => hookWithDefaults({ metadata, command: 'x', timeout: 1, runtime_assets: gone }));
    expect(() => requestOf({ check_hooks: [{ ok: MANY.slice(0, 60) }] })).to.throw(
      InvalidResource,
      'too long: runtime_assets and check_hooks lead to more than 5000 assets and hooks',
    );
  });

  describe('for a check that was stored before the bounds of lists and labels', () => {
    const numbered = (count: number): string[] => Array.from({ length: count }, (_, n) => `n${n}`);
    const map = (count: number): Record<string, string> => Object.fromEntries(numbered(count).map((key) => [key, '']));
    const eventOf = ({ config }: ReturnType<typeof requestOf>) => ({
      entity: { entity_class: 'agent', metadata: { name: 'a', namespace: 'default' } },
      check: config,
    });

    it('has as many subscriptions, labels and annotations as the event may have', () => {
      const metadata = { name: 'c', namespace: 'default', labels: map(900), annotations: map(900) };
      const request = requestOf({ metadata, subscriptions: numbered(1_500) });
      expect(request.config.subscriptions).to.deep.equal(numbered(1_000));
      expect(request.config.metadata.labels).to.deep.equal(map(900));
      expect(request.config.metadata.annotations).to.deep.equal(map(100));
      assertCheck(request.config);
      parseEvent(eventOf(request));
    });

    it('has the first labels that fit in 256 KiB', () => {
      const labels = { a: 'x'.repeat(200_000), b: 'x'.repeat(100_000), c: 'x' };
      const request = requestOf({ metadata: { name: 'c', namespace: 'default', labels } });
      expect(Object.keys(request.config.metadata.labels ?? {})).to.deep.equal(['a']);
      parseEvent(eventOf(request));
    });
  });
});

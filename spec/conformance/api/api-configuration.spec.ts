import { expect } from 'chai';
import type { ApiClient } from '../../support/api-client.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';

const CORE = '/api/core/v2';
const SHA512 = 'a'.repeat(128);
const RULES = [{ verbs: ['get'], resources: ['checks'] }];
const SUBJECTS = [{ type: 'User', name: 'ann' }];
const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' };

interface Row {
  kind: string;
  /** A valid resource, without its metadata. */
  first: object;
  /** The same resource with one changed member, which may be secret. */
  second: object;
  changed: string;
  name?: string;
  isOfCluster?: true;
  api?: string;
}

const KINDS: Row[] = [
  { kind: 'hooks', first: { command: 'a', timeout: 1 }, second: { command: 'secret', timeout: 1 }, changed: 'command' },
  {
    kind: 'filters',
    first: { action: 'allow', expressions: ['true'] },
    second: { action: 'allow', expressions: ['"secret"'] },
    changed: 'expressions',
  },
  {
    kind: 'mutators',
    first: { command: 'cat' },
    second: { command: 'cat', env_vars: ['A=secret'] },
    changed: 'env_vars',
  },
  {
    kind: 'assets',
    name: 'acme/secretless',
    first: { url: 'u', sha512: SHA512 },
    second: { url: 'u', sha512: SHA512, headers: { authorization: 'secret' } },
    changed: 'headers',
  },
  {
    kind: 'pipelines',
    first: {},
    second: { workflows: [{ name: 'secret', handler: { name: 'h', type: 'Handler', api_version: 'core/v2' } }] },
    changed: 'workflows',
  },
  {
    kind: 'secrets',
    api: '/api/enterprise/secrets/v1',
    first: { type: 'Secret', api_version: 'secrets/v1', spec: { id: 'A', provider: 'env' } },
    second: { type: 'Secret', api_version: 'secrets/v1', spec: { id: 'secret', provider: 'vault' } },
    changed: 'spec',
  },
  {
    kind: 'roles',
    first: { rules: RULES },
    second: { rules: [{ ...RULES[0], resource_names: ['secret'] }] },
    changed: 'rules',
  },
  {
    kind: 'rolebindings',
    first: { subjects: SUBJECTS, role_ref: { type: 'Role', name: 'r' } },
    second: { subjects: SUBJECTS, role_ref: { type: 'Role', name: 'secret' } },
    changed: 'role_ref',
  },
  {
    kind: 'clusterroles',
    isOfCluster: true,
    first: { rules: RULES },
    second: { rules: [{ ...RULES[0], resource_names: ['secret'] }] },
    changed: 'rules',
  },
  {
    kind: 'clusterrolebindings',
    isOfCluster: true,
    first: { subjects: SUBJECTS, role_ref: { type: 'ClusterRole', name: 'r' } },
    second: { subjects: SUBJECTS, role_ref: { type: 'ClusterRole', name: 'secret' } },
    changed: 'role_ref',
  },
];

for (const { kind, first, second, changed, name = 'x1', isOfCluster, api: prefix = CORE } of KINDS) {
  describe(`resources of the kind ${kind}`, () => {
    const homeIn = (namespace: string): string => `${prefix}/namespaces/${namespace}/${kind}`;
    const home = isOfCluster === true ? `${prefix}/${kind}` : homeIn('dev');
    const one = `${home}/${encodeURIComponent(name)}`;
    const metadata = isOfCluster === true ? { name } : { name, namespace: 'dev' };
    const key = isOfCluster === true ? name : `dev/${name}`;
    const backend = perSuite(() => InProcessBackend.start());
    let api: ApiClient;

    before(async () => {
      api = await backend.login();
      await api.put('/api/core/v2/namespaces/dev', { name: 'dev' });
    });

    it('are recorded in the ledger with the user and the changed members, without values except rights', async () => {
      const patch = { ...first, metadata: { labels: { patched: 'yes' } } };
      const statuses = [
        (await api.post(home, { metadata, ...first })).status,
        (await api.post(home, { metadata, ...first })).status,
        (await api.put(one, { metadata, ...second })).status,
        (await api.request({ method: 'PATCH', path: one, headers: MERGE_PATCH, body: patch })).status,
        (await api.delete(one)).status,
        (await api.delete(one)).status,
      ];
      expect(statuses).to.deep.equal([201, 409, 201, 200, 204, 404]);
      const entries = await api.ledger({ actor: kind, key });
      const recorded = entries.map(({ event, cause, details }) => [event, cause, details?.['changed']]);
      const user = { user: 'admin' };
      expect(recorded.slice(0, 2)).to.deep.equal([
        ['resource.created', user, []],
        ['resource.updated', user, [changed]],
      ]);
      expect(recorded.slice(2).map(([event]) => event)).to.deep.equal(['resource.updated', 'resource.deleted']);
      const withoutRights = entries.map(({ details: { before: _before, after: _after, ...others } = {} }) => others);
      expect(JSON.stringify(withoutRights)).to.not.include('"secret');
    });

    it('are shown with their author and an ETag that a patch and a restart do not change', async () => {
      await api.post(home, { metadata: { ...metadata, created_by: 'eve' }, ...first });
      const patched = await api.request({
        method: 'PATCH',
        path: one,
        headers: MERGE_PATCH,
        body: { metadata: { labels: { a: '1' }, created_by: 'eve' } },
      });
      expect(at(patched.json, 'metadata', 'created_by')).to.equal('admin');
      await backend.restart();
      api = await backend.login();
      const read = await api.get(one);
      expect([read.json, read.headers.etag]).to.deep.equal([patched.json, patched.headers.etag]);
      expect(read.json).to.deep.include({ metadata: { ...metadata, labels: { a: '1' }, created_by: 'admin' } });
    });

    it('belong to one namespace, which cannot be deleted while they exist, or to none', async () => {
      const elsewhere = { metadata: { name, namespace: 'ghost' }, ...first };
      if (isOfCluster === true) {
        const { status, json } = await api.post(home, elsewhere);
        expect(status).to.equal(400);
        expect(at(json, 'message')).to.match(/^resource is invalid: ClusterRole(Binding)? cannot have a namespace$/);
        return;
      }
      expect((await api.post(homeIn('ghost'), elsewhere)).status).to.equal(404);
      const refused = await api.delete('/api/core/v2/namespaces/dev');
      expect([refused.status, at(refused.json, 'message')]).to.deep.equal([
        400,
        'resource is invalid: namespace is not empty',
      ]);
      await api.delete(one);
      expect((await api.delete('/api/core/v2/namespaces/dev')).status).to.equal(204);
    });
  });
}

describe('a namespace with a resource named like its own role', () => {
  it('is not empty', async () => {
    const backend = await InProcessBackend.start();
    try {
      const api = await backend.login();
      await api.put('/api/core/v2/namespaces/dev', { name: 'dev' });
      const hook = { metadata: { name: 'system:pipeline', namespace: 'dev' }, command: 'a', timeout: 1 };
      expect((await api.post('/ns/dev/hooks', hook)).status).to.equal(201);
      expect((await api.delete('/api/core/v2/namespaces/dev')).status).to.equal(400);
      expect((await api.get('/ns/dev/roles/system:pipeline')).status).to.equal(200);
    } finally {
      await backend.stop();
    }
  });
});

import { expect } from 'chai';
import { roleBindingWithDefaults } from '../../../src/resources/role-binding.ts';
import { roleWithDefaults } from '../../../src/resources/role.ts';
import { ApiUnderTest } from '../api-under-test.ts';
import { perSuite } from '../../support/fixture.ts';

const NAMESPACES = '/api/core/v2/namespaces';

describe('a namespace', () => {
  const api = perSuite(() => ApiUnderTest.start());

  it('is created once, shown with a tag, and deleted once', async () => {
    const post = { method: 'POST', path: NAMESPACES, body: { name: 'dev' } };
    expect(await api.send(post)).to.include({ status: 201, text: '' });
    const second = await api.send(post);
    expect([second.status, second.body]).to.deep.equal([409, { message: 'resource already exists', code: 3 }]);
    const { status, body, headers } = await api.get(`${NAMESPACES}/dev`);
    expect([status, body]).to.deep.equal([200, { name: 'dev' }]);
    expect(headers.etag).to.match(/^"[0-9a-f]{16}"$/);
    expect(await api.send({ method: 'DELETE', path: `${NAMESPACES}/dev` })).to.include({ status: 204, text: '' });
    expect((await api.send({ method: 'DELETE', path: `${NAMESPACES}/dev` })).status).to.equal(404);
  });

  it('is replaced by PUT under its own name only', async () => {
    const put = (name: string, body: object) => api.send({ method: 'PUT', path: `${NAMESPACES}/${name}`, body });
    expect((await put('p1', { name: 'p1' })).status).to.equal(201);
    expect((await put('p1', { name: 'p1' })).status).to.equal(201);
    const { status, body } = await put('p1', { name: 'p2' });
    expect([status, body]).to.deep.equal([
      400,
      { message: 'the name of the resource (p2) does not match the name of the URI (p1)', code: 1 },
    ]);
  });

  const names: [unknown, string][] = [
    ['', 'namespace name must not be empty'],
    ['a b', 'namespace name cannot contain spaces or special characters'],
    ['a/b', 'namespace name cannot contain spaces or special characters'],
    ['..', 'namespace name must not be "." or ".."'],
    [5, 'name must be string or null'],
  ];
  for (const [name, message] of names) {
    it(`cannot be called ${JSON.stringify(name)}`, async () => {
      const { status, body } = await api.send({ method: 'POST', path: NAMESPACES, body: { name } });
      expect([status, body]).to.deep.equal([400, { message, code: 1 }]);
    });
  }
});

describe('the list of namespaces', () => {
  const api = perSuite(() => ApiUnderTest.start());
  before(async () => {
    for (const name of ['a', 'b', 'c']) await api.put('namespaces', undefined, name, { name });
  });

  const shownTo = async (token: string, query = ''): Promise<unknown> =>
    (await api.send({ path: NAMESPACES + query, headers: { authorization: `Bearer ${token}` } })).body;

  /** Creates a user with this right in `c` and returns its token. */
  async function userInC(name: string, rule: { verbs: string[]; resources: string[] }): Promise<string> {
    const metadata = { name, namespace: 'c' };
    const subjects = [{ type: 'User', name }];
    const binding = roleBindingWithDefaults({ metadata, subjects, role_ref: { type: 'Role', name } });
    await api.put('roles', 'c', name, roleWithDefaults({ metadata, rules: [rule] }));
    await api.put('rolebindings', 'c', name, binding);
    return api.userWith(name, []);
  }

  it('is empty for a user without any rights, who cannot see a single namespace either', async () => {
    const token = await api.userWith('nothing', []);
    expect(await shownTo(token)).to.deep.equal([]);
    const one = await api.send({ path: `${NAMESPACES}/a`, headers: { authorization: `Bearer ${token}` } });
    expect(one.status).to.equal(404);
  });

  it('is complete for a user who may get something in all namespaces', async () => {
    const token = await api.userWith('viewer', [{ verbs: ['get'], resources: ['checks'] }]);
    expect(await shownTo(token)).to.deep.equal(['a', 'b', 'c', 'default'].map((name) => ({ name })));
  });

  it('shows the namespaces that a rule names', async () => {
    const rule = { verbs: ['get'], resources: ['namespaces'], resource_names: ['b'] };
    expect(await shownTo(await api.userWith('named', [rule]))).to.deep.equal([{ name: 'b' }]);
  });

  it('shows the namespaces in which a user has a right', async () => {
    const token = await userInC('local', { verbs: ['get'], resources: ['hooks'] });
    expect(await shownTo(token)).to.deep.equal([{ name: 'c' }]);
  });

  it('has pages of the visible namespaces, with tokens that name no others', async () => {
    const rule = { verbs: ['get'], resources: ['namespaces'], resource_names: ['b', 'default'] };
    const token = await api.userWith('paging', [rule]);
    const page = async (query: string) => {
      const { body, headers } = await api.send({
        path: NAMESPACES + query,
        headers: { authorization: `Bearer ${token}` },
      });
      return { body, next: headers['sensu-continue'] as string | undefined };
    };
    const first = await page('?limit=1');
    expect(first.body).to.deep.equal([{ name: 'b' }]);
    expect(Buffer.from(first.next ?? '', 'base64url').toString()).to.equal('b\0');
    const second = await page(`?limit=1&continue=${first.next}`);
    expect(second).to.deep.equal({ body: [{ name: 'default' }], next: undefined });
    expect(await page('?limit=3')).to.deep.equal({ body: [{ name: 'b' }, { name: 'default' }], next: undefined });
  });

  it('cannot be extended or reduced with rights inside one namespace only', async () => {
    const token = await userInC('owner', { verbs: ['*'], resources: ['*'] });
    const as = { authorization: `Bearer ${token}` };
    expect((await api.send({ method: 'DELETE', path: `${NAMESPACES}/a`, headers: as })).status).to.equal(403);
    expect((await api.send({ method: 'POST', path: NAMESPACES, body: { name: 'n' }, headers: as })).status).to.equal(
      403,
    );
    expect(
      (await api.send({ method: 'PUT', path: `${NAMESPACES}/n`, body: { name: 'n' }, headers: as })).status,
    ).to.equal(403);
    expect(
      (await api.send({ method: 'PUT', path: `${NAMESPACES}/c`, body: { name: 'c' }, headers: as })).status,
    ).to.equal(201);
  });
});

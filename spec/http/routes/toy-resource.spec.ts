import { expect } from 'chai';
import { ApiClient, type ApiAnswer } from '../../support/api-client.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';
import { KINDS_WITH_TOYS } from './toy-kind.ts';

const TOYS = '/ns/default/toys';
const CRATES = '/api/core/v2/crates';
const NARROW = { username: 'ann', password: 'a-password' };

const named = (name: string, toy: object) => ({ metadata: { name, namespace: 'default' }, ...toy });
const names = ({ json }: ApiAnswer) => (json as object[]).map((toy) => at(toy, 'metadata', 'name'));
const selecting = (fieldSelector: string) => new URLSearchParams({ fieldSelector }).toString();

describe('a resource of a kind that was added as docs/change.md describes', () => {
  const backend = perSuite(() => InProcessBackend.start({ configurationKinds: KINDS_WITH_TOYS }));
  let api: ApiClient;

  before(async () => {
    api = await backend.login();
    for (const [name, color] of [
      ['car', 'red'],
      ['kite', 'blue'],
      ['train', 'red'],
    ] as const) {
      await api.put(`${TOYS}/${name}`, named(name, { color, parts: ['a', 'b'] }));
    }
  });

  it('is created once, replaced, shown, changed and deleted', async () => {
    const ball = named('ball', { color: 'green', unknown: 1 });
    expect((await api.post(TOYS, ball)).status).to.equal(201);
    expect((await api.post(TOYS, ball)).status).to.equal(409);
    const shown = await api.get(`${TOYS}/ball`);
    const metadata = { name: 'ball', namespace: 'default', created_by: 'admin' };
    expect([shown.status, shown.json]).to.deep.equal([200, { metadata, color: 'green', wheels: 0, parts: null }]);
    const stale = await api.patch(`${TOYS}/ball`, { wheels: 3 }, { 'if-match': '"0"' });
    expect(stale.status).to.equal(412);
    const changed = await api.patch(`${TOYS}/ball`, { wheels: 3 }, { 'if-match': String(shown.headers.etag) });
    expect([changed.status, at(changed.json, 'wheels')]).to.deep.equal([200, 3]);
    expect((await api.put(`${TOYS}/ball`, named('ball', { color: 'grey' }))).status).to.equal(201);
    expect(at((await api.get(`${TOYS}/ball`)).json, 'wheels')).to.equal(0);
    expect((await api.delete(`${TOYS}/ball`)).status).to.equal(204);
    expect((await api.get(`${TOYS}/ball`)).status).to.equal(404);
  });

  it('is validated by its schema, its rules and its path', async () => {
    const invalidBodies: [body: object, message: string][] = [
      [named('ball', { color: 1 }), 'color must be string or null'],
      [named('ball', { wheels: 4 }), 'resource is invalid: color must be set'],
      [named('a ball', { color: 'red' }), 'resource is invalid: toy name cannot contain spaces or special characters'],
      [
        { metadata: { name: 'ball', namespace: 'dev' }, color: 'red' },
        'the namespace of the resource (dev) does not match the namespace of the URI (default)',
      ],
    ];
    for (const [body, message] of invalidBodies) {
      const { status, json } = await api.post(TOYS, body);
      expect([status, json]).to.deep.equal([400, { message, code: 1 }]);
    }
    const { status, json } = await api.patch(`${TOYS}/car`, { color: null });
    expect([status, at(json, 'message')]).to.deep.equal([400, 'resource is invalid: color must be set']);
  });

  it('is listed in order, page by page, in one namespace and in all namespaces', async () => {
    await api.put('/api/core/v2/namespaces/attic', { name: 'attic' });
    await api.put('/ns/attic/toys/doll', { metadata: { name: 'doll', namespace: 'attic' }, color: 'red' });
    expect(names(await api.get(TOYS))).to.deep.equal(['car', 'kite', 'train']);
    expect(names(await api.get('/api/core/v2/toys'))).to.deep.equal(['doll', 'car', 'kite', 'train']);
    const first = await api.get(`${TOYS}?limit=2`);
    const next = String(first.headers['sensu-continue']);
    const last = await api.get(`${TOYS}?limit=2&continue=${next}`);
    expect([names(first), names(last)]).to.deep.equal([['car', 'kite'], ['train']]);
    expect(last.headers).to.not.have.property('sensu-continue');
  });

  it('can be selected by its fields, also page by page', async () => {
    expect(names(await api.get(`${TOYS}?${selecting('toy.color == red')}`))).to.deep.equal(['car', 'train']);
    expect(names(await api.get(`${TOYS}?${selecting('toy.parts matches "a,b"')}&limit=1`))).to.deep.equal(['car']);
    expect(names(await api.get(`${TOYS}?${selecting('toy.wheels == "0"')}`))).to.deep.equal([]);
    expect((await api.get(`${TOYS}?${selecting('nope (')}`)).status).to.equal(400);
  });

  it('is allowed and denied by its kind name in roles', async () => {
    await api.post('/api/core/v2/users', NARROW);
    const metadata = { name: 'toys', namespace: 'default' };
    const rules = [{ verbs: ['get', 'list'], resources: ['toys'] }];
    const subjects = [{ type: 'User', name: NARROW.username }];
    await api.post('/ns/default/roles', { metadata, rules });
    await api.post('/ns/default/rolebindings', { metadata, subjects, role_ref: { type: 'Role', name: 'toys' } });
    const ann = await ApiClient.login(backend.apiPort, NARROW);
    try {
      const asked = [
        (await ann.get(TOYS)).status,
        (await ann.get(`${TOYS}/car`)).status,
        (await ann.get('/ns/default/hooks')).status,
        (await ann.put(`${TOYS}/car`, named('car', { color: 'black' }))).status,
        (await ann.post(TOYS, named('top', { color: 'black' }))).status,
        (await ann.patch(`${TOYS}/car`, { color: 'black' })).status,
        (await ann.delete(`${TOYS}/car`)).status,
        (await ann.get('/api/core/v2/toys')).status,
        (await new ApiClient(backend.apiPort).get(TOYS)).status,
      ];
      expect(asked).to.deep.equal([200, 200, 403, 403, 403, 403, 403, 403, 401]);
    } finally {
      ann.close();
    }
  });

  it('has ledger entries with the user and the changed members, but no values', async () => {
    await api.post(TOYS, named('robot', { color: 'silver' }));
    await api.patch(`${TOYS}/robot`, { wheels: 2, color: 'secret' });
    await api.delete(`${TOYS}/robot`);
    const entries = await api.ledger({ actor: 'toys', key: 'default/robot' });
    const recorded = entries.map(({ event, cause, details }) => [event, cause, details?.['changed']]);
    const user = { user: 'admin' };
    expect(recorded.slice(0, 2)).to.deep.equal([
      ['resource.created', user, []],
      ['resource.updated', user, ['color', 'wheels']],
    ]);
    expect(recorded[2]?.slice(0, 2)).to.deep.equal(['resource.deleted', user]);
    expect(JSON.stringify(entries)).to.not.include('secret');
  });

  it('prevents the deletion of its namespace and survives a restart', async () => {
    const place = '/api/core/v2/namespaces/shop';
    const toy = { metadata: { name: 'bear', namespace: 'shop' }, color: 'brown' };
    await api.put(place, { name: 'shop' });
    await api.post('/ns/shop/toys', toy);
    expect((await api.delete(place)).status).to.equal(400);
    await backend.restart();
    api = await backend.login();
    expect(at((await api.get('/ns/shop/toys/bear')).json, 'color')).to.equal('brown');
    await api.delete('/ns/shop/toys/bear');
    expect((await api.delete(place)).status).to.equal(204);
  });

  it('can be cluster-wide', async () => {
    const crate = { metadata: { name: 'big' }, color: 'brown' };
    expect((await api.post(CRATES, crate)).status).to.equal(201);
    expect(names(await api.get(`${CRATES}?${selecting('crate.name == big')}`))).to.deep.equal(['big']);
    expect((await api.get('/ns/default/crates/big')).status).to.equal(404);
    const [entry] = await api.ledger({ actor: 'crates', key: 'big' });
    expect(entry?.event).to.equal('resource.created');
  });

  it('appears in the OpenAPI document with its routes, its schema and its rights', async () => {
    const document = (await api.get('/openapi.json')).json;
    const methods = (path: string) => Object.keys(at(document, 'paths', path) as object).toSorted();
    expect(methods('/api/core/v2/toys')).to.deep.equal(['get']);
    expect(methods('/api/core/v2/namespaces/{namespace}/toys')).to.deep.equal(['get', 'post']);
    expect(methods('/api/core/v2/namespaces/{namespace}/toys/{name}')).to.deep.equal(['delete', 'get', 'patch', 'put']);
    expect(methods('/api/core/v2/crates/{name}')).to.deep.equal(['delete', 'get', 'patch', 'put']);
    const created = at(document, 'paths', '/api/core/v2/namespaces/{namespace}/toys', 'post') as object;
    expect(JSON.stringify(created)).to.include('schemas/core.v2.Toy"').and.to.include('to `create` `toys`');
    expect(JSON.stringify(at(document, 'components', 'schemas'))).to.include('how many');
  });
});

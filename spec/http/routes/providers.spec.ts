import { expect } from 'chai';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';

const HOME = '/api/enterprise/secrets/v1/providers';
const ENV = { type: 'Env', api_version: 'secrets/v1', metadata: { name: 'env' }, spec: {} };

describe('the providers of secrets', () => {
  const backend = perSuite(() => InProcessBackend.start());
  const api = perSuite(() => backend.login());

  it('are exactly one, env, from the start', async () => {
    expect((await api.get(HOME)).json).to.deep.equal([ENV]);
    expect((await api.get(`${HOME}/env`)).json).to.deep.equal(ENV);
    expect((await api.get(`${HOME}/vault`)).status).to.equal(404);
  });

  it('can be confirmed by PUT, which changes nothing', async () => {
    expect((await api.put(`${HOME}/env`, ENV)).status).to.equal(201);
    expect((await api.get(HOME)).json).to.deep.equal([ENV]);
  });

  it('cannot be added, changed or deleted, and the answer says why', async () => {
    const answers = [
      await api.put(`${HOME}/vault`, { ...ENV, type: 'VaultProvider', metadata: { name: 'vault' } }),
      await api.put(`${HOME}/vault`, ENV),
      await api.delete(`${HOME}/env`),
      await api.delete(`${HOME}/vault`),
    ];
    expect(answers.map(({ status, json }) => [status, at(json, 'message')])).to.deep.equal([
      [400, 'resource is invalid: type must be Env, the only type of provider'],
      [400, 'the name of the resource (env) does not match the name of the URI (vault)'],
      [400, 'the provider env is built in and cannot be deleted'],
      [404, 'not found'],
    ]);
  });

  it('are selected by their names in selectors of secrets', async () => {
    const home = '/api/enterprise/secrets/v1/namespaces/default/secrets';
    const put = (name: string, spec: object) =>
      api.put(`${home}/${name}`, { metadata: { name, namespace: 'default' }, spec });
    await put('a', { id: 'X', provider: 'env' });
    await put('b', { id: 'X', provider: 'vault' });
    const selected = async (selector: string) =>
      ((await api.get(`${home}?fieldSelector=${encodeURIComponent(selector)}`)).json as object[]).map((one) =>
        at(one, 'metadata', 'name'),
      );
    expect(await selected('secret.provider == vault')).to.deep.equal(['b']);
    expect(await selected('secret.id == X')).to.deep.equal(['a', 'b']);
    expect(await selected('secret.name == a')).to.deep.equal(['a']);
  });
});

import { expect } from 'chai';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';

const CHECK = '/ns/default/checks/c1';

describe('the hooks of a check', () => {
  const backend = perSuite(() => InProcessBackend.start());
  const api = perSuite(() => backend.login());

  beforeEach(async () => {
    await api.put(CHECK, { metadata: { name: 'c1', namespace: 'default' }, command: 'true', interval: 60 });
  });

  const hooks = async (): Promise<unknown> => at((await api.get(CHECK)).json, 'check_hooks');
  const add = (type: string, ...names: string[]) => api.put(`${CHECK}/hooks/${type}`, { [type]: names });

  it('are all kept when they are added at the same time', async () => {
    const names = Array.from({ length: 16 }, (_, index) => `h${index}`);
    const answers = await Promise.all(names.map((name) => add('critical', name)));
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([201]));
    expect(at(await hooks(), 0, 'critical')).to.have.members(names);
    await Promise.all(names.slice(1).map((name) => api.delete(`${CHECK}/hooks/critical/hook/${name}`)));
    expect(await hooks()).to.deep.equal([{ critical: ['h0'] }]);
  });

  it('are removed once when several requests remove the same one at the same time', async () => {
    await add('ok', 'h');
    const answers = await Promise.all([1, 2, 3].map(() => api.delete(`${CHECK}/hooks/ok/hook/h`)));
    expect(answers.map(({ status }) => status)).to.have.members([204, 404, 404]);
    expect(await hooks()).to.equal(null);
  });

  it('are recorded in the ledger under the user who changed the check', async () => {
    await add('warning', 'h');
    const [last] = (await api.ledger({ actor: 'checks', key: 'default/c1' })).slice(-1);
    expect([last?.event, last?.cause, last?.details]).to.deep.equal([
      'resource.updated',
      { user: 'admin' },
      { changed: ['check_hooks'] },
    ]);
    expect(at((await api.get(CHECK)).json, 'metadata', 'created_by')).to.equal('admin');
  });

  const missing: [string, string][] = [
    ['PUT', '/ns/default/checks/none/hooks/ok'],
    ['PUT', '/ns/default/checks/c%2F1/hooks/ok'],
    ['PUT', '/ns/ghost/checks/c1/hooks/ok'],
    ['DELETE', '/ns/default/checks/none/hooks/ok/hook/h'],
    ['DELETE', '/ns/default/checks/c1/hooks/ok/hook/h%20h'],
    ['DELETE', '/ns/ghost/checks/c1/hooks/ok/hook/h'],
  ];
  for (const [method, path] of missing) {
    it(`answer 404 to ${method} ${path}`, async () => {
      const body = method === 'PUT' ? { ok: ['h'] } : undefined;
      expect((await api.request({ method, path, body })).status).to.equal(404);
    });
  }
});

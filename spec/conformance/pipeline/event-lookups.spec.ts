import { expect } from 'chai';
import { ApiClient } from '../../support/api-client.ts';
import { eventually } from '../../support/eventually.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';

const MON = '/api/mon/v1/namespaces/default';
const ROUTER_IS_UP = 'sensu.FetchEvent(event.entity.labels.router, "ping").check.status === 0';

describe('a filter that looks up other events', () => {
  const backend = perSuite(() => InProcessBackend.start());
  let api: ApiClient;

  const put = async (kind: string, name: string, body: object): Promise<void> => {
    const metadata = { name, namespace: 'default' };
    const { status, text } = await api.put(`/ns/default/${kind}/${name}`, { metadata, ...body });
    expect(status, text).to.equal(201);
  };
  const eventOf = (name: string, check: string, status: number): object => {
    const metadata = { name, namespace: 'default', labels: { router: 'router-1', password: 'p' } };
    const handlers = check === 'http' ? ['page'] : [];
    return {
      metadata: { namespace: 'default' },
      timestamp: 1_700_000_000,
      entity: { entity_class: 'proxy', metadata },
      check: { metadata: { name: check, namespace: 'default' }, interval: 60, status, handlers },
    };
  };
  const send = async (entity: string, check: string, status: number): Promise<void> => {
    const path = `/ns/default/events/${entity}/${check}`;
    const { status: answer, text } = await api.put(path, eventOf(entity, check, status));
    expect(answer, text).to.be.lessThan(300);
  };
  const outcomes = async (): Promise<unknown[]> => {
    const { json } = await api.get(`${MON}/notifications?check=http`);
    return (json as object[]).map((one) => [at(one, 'outcome'), at(one, 'reason')]);
  };

  before(async () => {
    api = await backend.login();
    await put('filters', 'router-is-up', { action: 'allow', expressions: [ROUTER_IS_UP] });
    await put('mutators', 'of-router', {
      type: 'javascript',
      eval: 'return mon.FetchEvent(event.entity.labels.router, "ping").entity.labels.password + mon.ListEvents().length;',
    });
    await put('handlers', 'page', { type: 'pipe', command: 'cat', filters: ['router-is-up'], mutator: 'of-router' });
  });

  it('decides by their state, and a mutator reads them with their secrets redacted', async () => {
    await send('router-1', 'ping', 2);
    await send('web-1', 'http', 2);
    expect(await eventually(outcomes, ({ length }) => length === 1)).to.deep.equal([
      ['denied', `router-is-up: ${ROUTER_IS_UP} was false`],
    ]);
    await send('router-1', 'ping', 0);
    await send('web-1', 'http', 2);
    const [last] = await eventually(outcomes, ({ length }) => length === 2);
    expect(last).to.deep.equal(['handled', 'REDACTED2']);
  });

  it('finds no event of another namespace', async () => {
    await api.put('/api/core/v2/namespaces/other', { name: 'other' });
    const metadata = { name: 'router-2', namespace: 'other' };
    const check = { metadata: { name: 'ping', namespace: 'other' }, interval: 60, status: 2 };
    const event = { metadata: { namespace: 'other' }, entity: { entity_class: 'proxy', metadata }, check };
    const { status, text } = await api.put('/ns/other/events/router-2/ping', event);
    expect(status, text).to.be.lessThan(300);
    await put('filters', 'elsewhere', {
      action: 'deny',
      expressions: ['sensu.FetchEvent("router-2", "ping") === undefined'],
    });
    await put('handlers', 'elsewhere', { type: 'pipe', command: 'cat', filters: ['elsewhere'] });
    const body = { event: { entity: 'web-1', check: 'http' }, handlers: ['elsewhere'] };
    const { json } = await api.post(`${MON}/pipeline/dry-run`, body);
    expect(at(json, 'runs', 0, 'outcome')).to.equal('denied');
  });

  it('shows them in a dry run only to callers who may read all events', async () => {
    const body = { event: eventOf('web-9', 'http', 2), handlers: ['page'] };
    const password = 'Passw0rd-1';
    await api.put('/api/core/v2/users/kim', { username: 'kim', password, groups: [] });
    const resources = ['handlers', 'filters', 'mutators', 'pipelines'];
    await put('roles', 'reader', { rules: [{ verbs: ['get'], resources, resource_names: null }] });
    const subjects = [{ type: 'User', name: 'kim' }];
    await put('rolebindings', 'reader', { subjects, role_ref: { type: 'Role', name: 'reader' } });
    const kim = await ApiClient.login(backend.apiPort, { username: 'kim', password });
    const run = async (caller: ApiClient): Promise<unknown> =>
      at((await caller.post(`${MON}/pipeline/dry-run`, body)).json, 'runs', 0);
    expect(at(await run(api), 'mutator', 'payload')).to.match(/^REDACTED\d$/);
    const refused = await run(kim);
    expect(at(refused, 'filters', 0, 'expressions', 0, 'value')).to.match(/FetchEvent: events cannot be read here/);
    expect(at(refused, 'mutator', 'payload')).to.equal(null);
  });
});

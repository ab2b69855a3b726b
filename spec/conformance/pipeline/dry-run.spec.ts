import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { ApiClient } from '../../support/api-client.ts';
import { proxyEvent } from '../../support/example-events.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';
import { readLedger } from '../../support/read-ledger.ts';

const DRY_RUN = '/api/mon/v1/namespaces/default/pipeline/dry-run';

interface Run {
  pipeline: string | null;
  workflow: string | null;
  handler: string;
  outcome: string;
  reason: string;
  filters: {
    name: string;
    passes: boolean | null;
    note: string;
    expressions: { expression: string; value: string }[];
  }[];
  mutator: { name: string; evaluated: boolean; note: string; payload: string | null };
  target: { type: string; command: string | null; socket: string | null } | null;
  missing: string[];
}

describe('a dry run', () => {
  const backend = perSuite(() => InProcessBackend.start());
  let api: ApiClient;

  const put = async (kind: string, name: string, body: object): Promise<void> => {
    const { status, text } = await api.put(`/ns/default/${kind}/${name}`, {
      metadata: { name, namespace: 'default' },
      ...body,
    });
    expect(status, text).to.equal(201);
  };
  const post = async (body: object): Promise<{ silenced: string[]; runs: Run[]; left_out: number }> => {
    const { status, text, json } = await api.post(DRY_RUN, body);
    expect(status, text).to.equal(200);
    return json as { silenced: string[]; runs: Run[]; left_out: number };
  };
  const run = async (body: object): Promise<Run> => {
    const [first] = (await post(body)).runs;
    if (first === undefined) throw new Error('there is no run');
    return first;
  };
  const event = proxyEvent('db', 'disk', { status: 2, output: '/var is full', handlers: ['mail'] });

  before(async () => {
    api = await backend.login();
    await put('filters', 'twice', {
      action: 'allow',
      expressions: ['event.check.occurrences > 1', 'event.check.status == 2'],
    });
    await put('filters', 'quiet', { action: 'deny', expressions: ['event.check.nolabel.x', 'event.check.status + 1'] });
    await put('filters', 'with-asset', { action: 'allow', expressions: ['f()'], runtime_assets: ['functions'] });
    await put('mutators', 'short', { type: 'javascript', eval: 'return event.check.output.toUpperCase();' });
    await put('mutators', 'piped', { type: 'pipe', command: `touch ${backend.stateDir}/mutated; cat` });
    const command = `touch ${backend.stateDir}/handled`;
    await put('handlers', 'mail', {
      type: 'pipe',
      command,
      filters: ['is_incident', 'not_silenced', 'twice'],
      mutator: 'short',
    });
    await put('handlers', 'tcp', { type: 'tcp', socket: { host: '127.0.0.1', port: 9 }, mutator: 'piped' });
    await put('handlers', 'denied', { type: 'pipe', command, filters: ['quiet'] });
    await put('handlers', 'secret', {
      type: 'pipe',
      command,
      secrets: [{ name: 'TOKEN', secret: 'nowhere' }],
      runtime_assets: ['none'],
    });
    await put('handlers', 'unknown', { type: 'pipe', command, filters: ['with-asset'] });
    await put('pipelines', 'alerts', {
      workflows: [
        {
          name: 'one',
          filters: [{ name: 'twice', type: 'EventFilter', api_version: 'core/v2' }],
          handler: { name: 'mail', type: 'Handler', api_version: 'core/v2' },
        },
        { name: 'two', handler: { name: 'nobody', type: 'Handler', api_version: 'core/v2' } },
      ],
    });
    await api.put('/ns/default/events/db/disk', event);
  });

  it('of an event that is sent merges it with the stored one, and shows each expression with its value', async () => {
    const found = await run({ event });
    expect(found).to.include({ handler: 'mail', outcome: 'would-run', pipeline: null });
    expect(found.filters.map(({ name, passes }) => [name, passes])).to.deep.equal([
      ['is_incident', true],
      ['not_silenced', true],
      ['twice', true],
    ]);
    expect(found.filters[2]?.expressions).to.deep.equal([
      { expression: 'event.check.occurrences > 1', value: 'true' },
      { expression: 'event.check.status == 2', value: 'true' },
    ]);
    expect(found.target).to.include({ type: 'pipe' });
  });

  it('of a stored event says which expression denies it', async () => {
    const found = await run({ event: { entity: 'db', check: 'disk' } });
    expect(found).to.include({ outcome: 'denied', reason: 'twice: event.check.occurrences > 1 was false' });
    expect(found.filters[2]?.expressions[0]).to.deep.equal({
      expression: 'event.check.occurrences > 1',
      value: 'false',
    });
  });

  it('evaluates a JavaScript mutator and runs no command', async () => {
    const body = { event, handlers: ['mail', 'tcp'] };
    const [mail, tcp] = (await post(body)).runs;
    expect(mail?.mutator).to.include({ name: 'short', evaluated: true, payload: '/VAR IS FULL' });
    expect(tcp?.mutator).to.include({
      name: 'piped',
      evaluated: false,
      note: 'the command of a pipe mutator is not run',
    });
    expect(tcp?.target).to.deep.equal({ type: 'tcp', command: null, socket: '127.0.0.1:9' });
  });

  it('names an expression that throws, and the one that denies', async () => {
    const found = await run({ event, handlers: ['denied'] });
    expect(found).to.include({ outcome: 'denied', reason: 'quiet: event.check.status + 1 was 3' });
    expect(found.filters[0]?.expressions[0]?.value).to.match(/event\.check\.nolabel\.x/);
  });

  it('names missing secrets and assets, and assets that are not installed', async () => {
    const secret = await run({ event, handlers: ['secret'] });
    expect(secret.outcome).to.equal('skipped');
    expect(secret.missing).to.deep.equal([
      'handler "secret": secret "nowhere": invalid secret info: nowhere',
      'asset "none" of handler "secret" does not exist',
    ]);
    expect(await run({ event, handlers: ['unknown'] })).to.include({
      outcome: 'skipped',
      reason: 'asset "functions" of filter "with-asset" does not exist',
    });
  });

  it('does not ask for secrets and assets that a socket handler and a JavaScript mutator do not use', async () => {
    const secrets = [{ name: 'TOKEN', secret: 'nowhere' }];
    await put('mutators', 'secretive', { type: 'javascript', eval: 'return "x";', secrets });
    const socket = { host: '127.0.0.1', port: 9 };
    await put('handlers', 'socket', { type: 'udp', socket, mutator: 'secretive', secrets, runtime_assets: ['none'] });
    expect(await run({ event, handlers: ['socket'] })).to.deep.include({ outcome: 'would-run', missing: [] });
  });

  it('does not download an asset', async () => {
    await put('assets', 'functions', { url: 'http://127.0.0.1:9/functions.tar.gz', sha512: 'a'.repeat(128) });
    const found = await run({ event, handlers: ['unknown'] });
    expect(found).to.include({
      outcome: 'unknown',
      reason: 'an asset of filter "with-asset" is not installed yet; a run would download it',
    });
    expect(found.filters[0]).to.include({ passes: null });
  });

  it('of pipelines examines each workflow', async () => {
    const { runs } = await post({ event, pipelines: ['alerts', 'none'] });
    expect(runs.map(({ pipeline, workflow, outcome, reason }) => [pipeline, workflow, outcome, reason])).to.deep.equal([
      ['alerts', 'one', 'would-run', ''],
      ['alerts', 'two', 'skipped', 'handler does not exist'],
      ['none', null, 'skipped', 'pipeline "none" does not exist'],
    ]);
  });

  it('shows the filters of each of two workflows of one name', async () => {
    const workflow = (filter: string) => ({
      name: 'same',
      filters: [{ name: filter, type: 'EventFilter', api_version: 'core/v2' }],
      handler: { name: 'mail', type: 'Handler', api_version: 'core/v2' },
    });
    await put('pipelines', 'twins', { workflows: [workflow('quiet'), workflow('twice')] });
    const { runs } = await post({ event, pipelines: ['twins'] });
    expect(runs.map(({ filters, outcome }) => [filters.map(({ name }) => name), outcome])).to.deep.equal([
      [['quiet'], 'denied'],
      [['twice'], 'would-run'],
    ]);
  });

  it('names the silences that would apply', async () => {
    const metadata = { name: 'entity:db:*', namespace: 'default' };
    await api.put('/ns/default/silenced/entity:db:*', { metadata, subscription: 'entity:db', expire: -1 });
    const { silenced, runs } = await post({ event });
    expect(silenced).to.deep.equal(['entity:db:*']);
    expect(runs[0]).to.include({ outcome: 'denied', reason: 'silenced by entity:db:*' });
    await api.delete('/ns/default/silenced/entity:db:*');
  });

  it('has no effect', async () => {
    const stored = () => [
      readLedger(backend.store).length,
      [...backend.store.range('notificationLog', { from: '', to: '~' })].length,
      [...backend.store.keys('outbox', { from: '', to: '~' })].length,
      JSON.stringify(backend.store.get('events', 'default/db/disk')),
    ];
    const before = stored();
    await post({ event, handlers: ['mail', 'tcp', 'denied', 'secret'], pipelines: ['alerts'] });
    expect(stored()).to.deep.equal(before);
    expect(['handled', 'mutated'].filter((name) => existsSync(`${backend.stateDir}/${name}`))).to.deep.equal([]);
  });

  it('refuses a request that is not valid, with the member and its rule', async () => {
    const names = Array.from({ length: 51 }, (_, n) => `h${n}`);
    const cases: [object, string][] = [
      [{}, 'event must be an object'],
      [{ event, handlers: 'mail' }, 'handlers must be an array of names'],
      [{ event, pipelines: names }, 'pipelines must have at most 50 names'],
      [{ event, hander: [] }, 'unknown member "hander"; the known ones are event, handlers, pipelines'],
    ];
    for (const [body, message] of cases) {
      const { status, json } = await api.post(DRY_RUN, body);
      expect([status, at(json, 'message')]).to.deep.equal([400, message]);
    }
    expect(await api.post(DRY_RUN, { event: { entity: 'db', check: 'never' } })).to.have.property('status', 404);
  });

  it('needs the right to read what it shows, and the stored event', async () => {
    const rules = [
      { verbs: ['get'], resources: ['handlers', 'filters', 'mutators', 'pipelines'], resource_names: null },
    ];
    const password = 'Passw0rd-1';
    await api.put('/api/core/v2/users/kim', { username: 'kim', password, groups: [] });
    const kim = await ApiClient.login(backend.apiPort, { username: 'kim', password });
    expect(await kim.post(DRY_RUN, { event })).to.have.property('status', 403);
    await put('roles', 'reader', { rules });
    const subjects = [{ type: 'User', name: 'kim' }];
    await put('rolebindings', 'reader', { subjects, role_ref: { type: 'Role', name: 'reader' } });
    await api.put('/ns/default/events/db/disk', event);
    await put('handlers', 'plain', { type: 'pipe', command: 'true' });
    const occurrences = async (user: ApiClient): Promise<unknown> => {
      const { status, text, json } = await user.post(DRY_RUN, { event, handlers: ['plain'] });
      expect(status, text).to.equal(200);
      const { payload } = (json as { runs: Run[] }).runs[0]?.mutator ?? {};
      return at(JSON.parse(payload ?? '') as object, 'check', 'occurrences');
    };
    // The stored event of the same key counts for those only who may read it.
    expect(await occurrences(kim)).to.equal(1);
    expect(await occurrences(api)).to.be.above(1);
    expect(await kim.post(DRY_RUN, { event: { entity: 'db', check: 'disk' } })).to.have.property('status', 403);
  });
});

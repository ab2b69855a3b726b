import { expect } from 'chai';
import { BackendProcess } from '../../support/backend-process.ts';
import { ByteSinks } from '../../support/byte-sinks.ts';
import { eventually } from '../../support/eventually.ts';
import { proxyEvent } from '../../support/example-events.ts';
import { perSuite } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { PipelineUser, reference } from '../../support/pipeline-user.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const ALWAYS = {
  days: {
    all: [
      { begin: '12:00AM', end: '11:59PM' },
      { begin: '12:01 PM', end: '12:00 PM' },
    ],
  },
};

/** `3:00 PM`, some hours from now. */
function clockTime(hoursAhead: number): string {
  const hour = new Date(Date.now() + hoursAhead * 3_600_000).getUTCHours();
  return `${hour % 12 || 12}:00 ${hour < 12 ? 'AM' : 'PM'}`;
}

/** The cases of `spec/04` about handlers, filters and mutators, with their outcomes on record. */
describe('the conformance cases of the event pipeline', function () {
  this.timeout(60_000);
  const backend = perSuite(() =>
    BackendProcess.start({
      environment: { MARK_ENV: 'from-backend' },
      // A loaded machine does not change the order of handlers.
      args: ['--handler-patience', '60s'],
    }),
  );
  const api = perSuite(() => backend.login());
  const directory = perSuite(temporaryDirectory, (made) => made.remove());
  const user = perSuite(() => new PipelineUser(api, directory.path));

  const filter = (name: string, action: string, expressions: string[], changes: object = {}): Promise<void> =>
    user.put('filters', name, { action, expressions, ...changes });

  const mutator = (name: string, changes: Record<string, unknown>): Promise<void> =>
    user.put('mutators', name, changes);

  const workflow = (name: string, handler: string, filters: string[] = [], mutates?: string): object => ({
    name,
    handler: reference('Handler', handler),
    filters: filters.map((each) => reference('EventFilter', each)),
    ...(mutates === undefined ? {} : { mutator: reference('Mutator', mutates) }),
  });

  const pipeline = (name: string, ...workflows: object[]): Promise<void> => user.put('pipelines', name, { workflows });

  const throughPipeline = (name: string): Record<string, unknown> => ({ pipelines: [reference('Pipeline', name)] });

  /** Returns whether an event of this result passes the filters of a handler, and the reason if it does not. */
  async function passes(check: string, filters: string[], result: Record<string, unknown> = {}): Promise<unknown> {
    await user.handler(`h-${check}`, { filters });
    await user.event(check, { ...result, handlers: [`h-${check}`] });
    const [outcome] = await user.outcomes(check, 1);
    return outcome?.outcome === 'handled' ? true : outcome?.reason;
  }

  const logged = (handler: string): unknown[] => backend.logs.filter((line) => at(line, 'handler') === handler);

  it('case 27: a handler that does not exist is recorded and logged', async () => {
    await user.event('c27', { handlers: ['x'] });
    expect(await user.outcomeLines('c27', 1)).to.deep.equal(['x skipped: handler does not exist']);
    // The line follows the commit of the record.
    const lines = await eventually(
      () => logged('x'),
      ({ length }) => length > 0,
      { what: 'a line of the log' },
    );
    expect(lines.map((line) => at(line, 'msg'))).to.deep.equal(['handler does not exist, will be ignored']);
  });

  it('case 28: a set in a set reaches its handlers, and a third level does not', async () => {
    await user.handler('c28-a');
    await user.handler('c28-b');
    await user.put('handlers', 'c28-s1', { type: 'set', handlers: ['c28-a'] });
    await user.put('handlers', 'c28-s2', { type: 'set', handlers: ['c28-s1'] });
    await user.put('handlers', 'c28-s3', { type: 'set', handlers: ['c28-s2', 'c28-b'] });
    await user.event('c28-two', { handlers: ['c28-s2'] });
    expect(await user.outcomeLines('c28-two', 1)).to.deep.equal(['c28-a handled']);
    await user.event('c28-three', { handlers: ['c28-s3'] });
    expect(await user.outcomeLines('c28-three', 2)).to.have.members([
      'c28-s1 skipped: handler sets cannot be deeply nested',
      'c28-b handled',
    ]);
  });

  it('case 29: a handler of check and metrics runs once, and handlers run in the order of their names', async () => {
    await user.handler('c29-zeta');
    await user.handler('c29-alpha');
    const metrics = { handlers: ['c29-zeta'], points: [] };
    await user.event('c29', { handlers: ['c29-zeta', 'c29-alpha'] }, { metrics });
    expect(await user.outcomeLines('c29', 2)).to.deep.equal(['c29-alpha handled', 'c29-zeta handled']);
  });

  it('case 30: the pipelines of the event decide, not those of its check', async () => {
    await user.handler('c30');
    await pipeline('c30', workflow('w', 'c30'));
    await user.event('c30', throughPipeline('c30'));
    await user.event('c30', {}, throughPipeline('c30'));
    expect(await user.outcomes('c30', 1)).to.deep.equal([
      { pipeline: 'c30', workflow: 'w', handler: 'c30', outcome: 'handled', reason: '', status: 0 },
    ]);
  });

  it('case 31: a set cannot be the handler of a workflow', async () => {
    await user.put('handlers', 'c31', { type: 'set', handlers: [] });
    await pipeline('c31', workflow('w', 'c31'));
    await user.event('c31', {}, throughPipeline('c31'));
    expect(await user.outcomeLines('c31', 1)).to.deep.equal(['c31 skipped: unknown handler type']);
  });

  it('cases 32 and 33: what ends a workflow does not end the next one', async () => {
    await filter('c32-no', 'allow', ['false']);
    await user.handler('c32-exits', { command: 'cat > /dev/null; exit 1' });
    await user.handler('c32-next');
    await pipeline(
      'c32',
      workflow('denied', 'c32-next', ['c32-no']),
      workflow('exits', 'c32-exits'),
      workflow('no-handler', 'c32-none'),
      workflow('no-filter', 'c32-next', ['c32-none']),
      workflow('no-mutator', 'c32-next', [], 'c32-none'),
      workflow('last', 'c32-next'),
    );
    await user.event('c32', {}, throughPipeline('c32'));
    const outcomes = await user.outcomes('c32', 6);
    const byWorkflow = new Map(outcomes.map(({ workflow: name, ...rest }) => [name, rest]));
    expect(byWorkflow.get('denied')).to.include({ outcome: 'denied', reason: 'c32-no: false was false' });
    expect(byWorkflow.get('exits')).to.include({ outcome: 'failed', status: 1 });
    expect(byWorkflow.get('no-handler')).to.include({ outcome: 'skipped', reason: 'handler does not exist' });
    expect(byWorkflow.get('no-filter')).to.include({ outcome: 'skipped', reason: 'filter "c32-none" does not exist' });
    expect(byWorkflow.get('no-mutator')).to.include({
      outcome: 'skipped',
      reason: 'mutator "c32-none" does not exist',
    });
    expect(byWorkflow.get('last')).to.include({ outcome: 'handled' });
    expect(user.ran.filter((name) => name.startsWith('c32'))).to.deep.equal(['c32-next']);
  });

  it('case 34: is_incident passes failures and their resolution, and says so of others', async () => {
    await user.handler('c34', { filters: ['is_incident'] });
    for (const status of [0, 0, 2, 0, 0]) await user.event('c34', { status, handlers: ['c34'] });
    const no = 'c34 denied: not an incident';
    expect(await user.outcomeLines('c34', 5)).to.have.members([no, no, 'c34 handled', 'c34 handled', no]);
  });

  it('case 35: has_metrics passes metrics without points', async () => {
    await user.handler('c35', { filters: ['has_metrics'] });
    await user.event('c35', { handlers: ['c35'] }, { metrics: { handlers: [], points: [] } });
    expect(await user.outcomeLines('c35', 1)).to.deep.equal(['c35 handled']);
    await user.event('c35-none', { handlers: ['c35'] });
    expect(await user.outcomeLines('c35-none', 1)).to.deep.equal(['c35 denied: no metrics']);
  });

  it('case 36: an expression that throws lets the event pass, which the outcome notes', async () => {
    for (const action of ['allow', 'deny']) {
      await filter(`c36-${action}`, action, ['event.check.nolabel.x']);
      expect(await passes(`c36-${action}`, [`c36-${action}`])).to.equal(true);
      const [outcome] = await user.outcomes(`c36-${action}`, 1);
      expect(outcome?.reason).to.contain(`c36-${action}`).and.to.contain('event.check.nolabel.x');
    }
  });

  it('case 37: a deny filter needs one true expression, an allow filter all of them', async () => {
    await filter('c37-deny', 'deny', ['1 !== 1', '1 === 1']);
    await filter('c37-allow', 'allow', ['1 === 1', '1 !== 1']);
    await filter('c37-label', 'allow', ['event.check.labels.team']);
    expect(await passes('c37-deny', ['c37-deny'])).to.equal('c37-deny: 1 === 1 was true');
    expect(await passes('c37-allow', ['c37-allow'])).to.equal('c37-allow: 1 !== 1 was false');
    const labels = { metadata: { name: 'c37-label', namespace: 'default', labels: { team: 'ops' } } };
    expect(await passes('c37-label', ['c37-label'], labels)).to.equal(true);
  });

  it('case 38: clock windows decide before expressions', async () => {
    const other = { days: { all: [{ begin: clockTime(2), end: clockTime(3) }] } };
    await filter('c38-outside', 'allow', ['true'], { when: other });
    await filter('c38-inside', 'deny', ['false'], { when: ALWAYS });
    await filter('c38-space', 'allow', ['true'], { when: ALWAYS });
    expect(await passes('c38-outside', ['c38-outside'])).to.equal('c38-outside: outside its time windows');
    expect(await passes('c38-inside', ['c38-inside'])).to.equal('c38-inside: inside its time windows');
    expect(await passes('c38-space', ['c38-space'])).to.equal(true);
  });

  it('case 39: hour, minute, second and weekday are those of UTC', async () => {
    const expressions = ['hour(7323)==2', 'minute(7323)==2', 'second(7323)==3', 'weekday(1520275913)==1'];
    await filter('c39', 'allow', expressions);
    expect(await passes('c39', ['c39'])).to.equal(true);
  });

  it('case 40: an endless loop is cut within a second and denies its event, while other events pass', async () => {
    await filter('c40', 'allow', ['while (true) {}']);
    await filter('c40-other', 'allow', ['true']);
    await user.handler('h-c40-endless', { filters: ['c40'] });
    const beganMs = performance.now();
    await user.event('c40-endless', { handlers: ['h-c40-endless'] });
    expect(await passes('c40-other', ['c40-other'])).to.equal(true);
    const [outcome] = await user.outcomes('c40-endless', 1);
    expect(performance.now() - beganMs).to.be.below(1_500);
    expect(outcome).to.include({ outcome: 'denied' });
    expect(outcome?.reason).to.match(/^failed: c40: /);
  });

  it('case 41: a regular expression in the dialect of the reference ignores the case of letters', async () => {
    await filter('c41', 'deny', ['/(?i)TEST/.test(event.check.output)']);
    expect(await passes('c41', ['c41'], { output: 'a test' })).to.equal(
      'c41: /(?i)TEST/.test(event.check.output) was true',
    );
  });

  it('case 42: an event has zero values, the bytes of its id, and no metrics', async () => {
    await filter('c42', 'allow', ['event.metrics === undefined && event.check.cron === "" && event.id.length === 16']);
    expect(await passes('c42', ['c42'])).to.equal(true);
  });

  it('case 43: a handler does not read a secret label', async () => {
    await user.handler('c43');
    const metadata = { name: 'web-43', namespace: 'default', labels: { password: 'hunter2' } };
    const event = {
      ...proxyEvent('web-43', 'c43', { handlers: ['c43'] }),
      entity: { entity_class: 'proxy', metadata },
    };
    expect(await api.put('/ns/default/events/web-43/c43', event)).to.have.property('status', 200);
    expect(await user.outcomeLines('c43', 1, 'web-43')).to.deep.equal(['c43 handled']);
    expect(user.input('c43')).to.contain('REDACTED').and.not.to.contain('hunter2');
  });

  it('case 44: a tcp handler with only_check_output sends the bytes of the output and closes', async () => {
    const sinks = await ByteSinks.listen();
    try {
      const socket = { host: '127.0.0.1', port: sinks.tcpPort };
      await user.put('handlers', 'c44', { type: 'tcp', socket, mutator: 'only_check_output' });
      await user.event('c44', { output: 'line1\nline2 é\n', handlers: ['c44'] });
      expect(await user.outcomeLines('c44', 1)).to.deep.equal(['c44 handled']);
      await eventually(() => sinks.connections.length, Boolean, { what: 'the end of the connection' });
      expect(sinks.connections).to.deep.equal(['line1\nline2 é\n']);
    } finally {
      await sinks.close();
    }
  });

  it('case 45: a mutator that fails ends its workflow, and cat changes nothing', async () => {
    await mutator('c45-fails', { command: 'cat; echo why >&2; exit 1' });
    await mutator('c45-cat', { command: 'cat' });
    await user.handler('c45-fails', { mutator: 'c45-fails' });
    await user.handler('c45-cat', { mutator: 'c45-cat' });
    await user.handler('c45-json');
    await user.event('c45', { handlers: ['c45-fails', 'c45-cat', 'c45-json'] });
    const outcomes = await user.outcomes('c45', 3);
    const failed = outcomes.find(({ handler }) => handler === 'c45-fails');
    expect(failed).to.include({ outcome: 'failed' });
    expect(failed?.reason).to.contain('mutator "c45-fails": pipe mutator execution returned non-zero exit status');
    expect(failed?.reason).to.contain('why');
    expect(user.input('c45-fails')).to.equal(undefined);
    expect(user.input('c45-cat')).to.be.a('string').and.to.equal(user.input('c45-json'));
  });

  it('case 46: a JavaScript mutator changes the event in place', async () => {
    await mutator('c46', {
      type: 'javascript',
      eval: 'event.check.labels["hockey"] = hockey',
      env_vars: ['hockey=puck'],
    });
    await user.handler('c46', { mutator: 'c46' });
    await user.event('c46', { handlers: ['c46'] });
    expect(await user.outcomeLines('c46', 1)).to.deep.equal(['c46 handled']);
    expect(at(JSON.parse(user.input('c46') ?? ''), 'check', 'metadata', 'labels')).to.deep.equal({ hockey: 'puck' });
  });

  it('case 47: a JavaScript mutator that returns an object or does not end fails with the reason', async () => {
    await mutator('c47-object', { type: 'javascript', eval: 'return {}' });
    await mutator('c47-endless', { type: 'javascript', eval: 'while (true) {}', timeout: 1 });
    await user.handler('c47-object', { mutator: 'c47-object' });
    await user.handler('c47-endless', { mutator: 'c47-endless' });
    await user.event('c47', { handlers: ['c47-object', 'c47-endless'] });
    expect(await user.outcomeLines('c47', 2)).to.have.members([
      'c47-object failed: mutator "c47-object": bad mutator result: got "Object", want string or undefined',
      'c47-endless timed-out: mutator "c47-endless": mutator timeout reached, execution halted',
    ]);
    expect([user.input('c47-object'), user.input('c47-endless')]).to.deep.equal([undefined, undefined]);
  });
});

import { expect } from 'chai';
import { type CommandRequest, runCommand } from '../../src/exec/process-group.ts';
import { NO_ENVIRONMENT } from '../../src/pipeline/handlers/handler-result.ts';
import { mutate, type MutationTask, type MutatorPorts } from '../../src/pipeline/mutators.ts';
import { RunEnded } from '../../src/pipeline/run-ended.ts';
import { parseEvent } from '../../src/resources/event.ts';
import { mutatorWithDefaults } from '../../src/resources/mutator.ts';
import { TickBudget } from '../../src/store/commit/tick-budget.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { RecordedLog } from '../support/recorded-log.ts';

const ENTITY = {
  entity_class: 'agent',
  metadata: { name: 'web-01', namespace: 'default', labels: { site: 'fra' } },
};
const EVENT = parseEvent({
  entity: ENTITY,
  check: { metadata: { name: 'disk', namespace: 'default' }, interval: 60, output: 'full\n' },
});
const METRICS = parseEvent({ entity: ENTITY, metrics: { handlers: ['influx'], points: [] } });

describe('a mutator', () => {
  const log = new RecordedLog();
  const tasks: MutationTask[] = [];
  let answer: { data: string } | { error: string };
  let environment = NO_ENVIRONMENT;

  /** The input of the handler, or the outcome without one. */
  async function result(
    stored: Parameters<typeof mutatorWithDefaults>[0],
    { mutator = 'm', event = EVENT, budget = new TickBudget() } = {},
  ): Promise<unknown> {
    const clock = new ManualClock();
    const ports: MutatorPorts = {
      mutator: (_, name) => (name === 'm' ? mutatorWithDefaults(stored) : undefined),
      environment: () => Promise.resolve(environment),
      libraries: (_, owner, assets) => Promise.resolve((assets ?? []).map((asset) => `// ${asset} of ${owner}`)),
      variable: (name) => (name === 'HOST' ? 'mars' : undefined),
      evaluate(task) {
        tasks.push(task);
        return Promise.resolve(answer);
      },
      runCommand: (request: CommandRequest) => runCommand(request, clock),
      runLimitMs: 0,
      budget,
      log,
    };
    const run = {
      namespace: 'default',
      mutator: mutator || undefined,
      event,
      nowMs: 1,
      signal: new AbortController().signal,
    };
    try {
      return String(await mutate(run, ports));
    } catch (error) {
      if (error instanceof RunEnded) return error.result;
      throw error;
    }
  }

  it('is the event as JSON by default', async () => {
    const json = JSON.parse(String(await result({}, { mutator: '' }))) as typeof EVENT;
    expect(json.check?.output).to.equal('full\n');
    expect(await result({}, { mutator: 'json' })).to.equal(JSON.stringify(json));
  });

  it('only_check_output is the output alone, and needs a check', async () => {
    expect(await result({}, { mutator: 'only_check_output' })).to.equal('full\n');
    const reason = 'event requires a check for the only_check_output mutator to work';
    const failed = { outcome: 'failed', reason, status: undefined };
    expect(await result({}, { mutator: 'only_check_output', event: METRICS })).to.deep.equal(failed);
  });

  for (const mutator of ['nope', 'constructor']) {
    it(`that does not exist ends the run: ${mutator}`, async () => {
      const reason = `mutator "${mutator}" does not exist`;
      expect(await result({}, { mutator })).to.deep.equal({ outcome: 'skipped', reason, status: undefined });
    });
  }

  it('encodes a long event in several ticks', async () => {
    const output = '\u0001'.repeat(2_000_000);
    const event = parseEvent({ entity: ENTITY, check: { metadata: { name: 'disk' }, interval: 60, output } });
    let ticks = 0;
    const budget = new TickBudget(() => Promise.resolve((ticks += 1)));
    const json = JSON.parse(String(await result({}, { mutator: 'json', event, budget }))) as typeof event;
    expect(json.check?.output).to.equal(output);
    expect(ticks).to.equal(2);
  });

  describe('with a command', () => {
    it('gives the handler its standard output, and logs its standard error', async () => {
      expect(await result({ command: 'cat > /dev/null; echo out; echo err >&2' })).to.equal('out\n');
      expect(log.lines.at(-1)).to.deep.include({ level: 'info', msg: 'mutator wrote to its standard error' });
      expect(log.lines.at(-1)?.fields).to.deep.include({ errors: 'err\n', mutator: 'm' });
    });

    it('gets the event on its standard input', async () => {
      const json = JSON.parse(String(await result({ command: 'cat' }))) as typeof EVENT;
      expect(json.entity?.metadata.labels).to.deep.equal({ site: 'fra' });
    });

    it('gets its variables, which win over assets, and secrets, which win over them', async () => {
      environment = { assets: ['A=asset', 'B=asset'], secrets: ['C=secret'] };
      const command = 'cat > /dev/null; echo $A $B $C';
      expect(await result({ command, env_vars: ['B=own', 'C=own'] })).to.equal('asset own secret\n');
      environment = NO_ENVIRONMENT;
    });

    it('that exits with another status than 0 fails', async () => {
      const reason = 'mutator "m": pipe mutator execution returned non-zero exit status (exit status 3): no\n';
      const failed = { outcome: 'failed', reason, status: undefined };
      expect(await result({ command: 'cat > /dev/null; echo no; exit 3' })).to.deep.equal(failed);
    });

    it('that writes more than 10 MiB fails, instead of giving a part of it', async () => {
      const failed = await result({ command: 'cat > /dev/null; head -c 11000000 /dev/zero' });
      expect(failed).to.have.property('outcome', 'failed');
      expect(failed).to.have.property('reason', 'mutator "m": its output is longer than 10485760 bytes');
    });
  });

  describe('in JavaScript', () => {
    it('gets its variables, those without a value from the environment, and its timeout in milliseconds', async () => {
      answer = { data: 'changed' };
      const env_vars = ['A=b=c', 'HOST', 'NONE'];
      expect(await result({ type: 'javascript', eval: 'return x', env_vars, timeout: 2 })).to.equal('changed');
      expect(tasks.at(-1)).to.deep.include({
        body: 'return x',
        variables: { A: 'b=c', HOST: 'mars', NONE: '' },
        timeoutMs: 2_000,
      });
    });

    it('runs the libraries of its assets before its body', async () => {
      answer = { data: 'changed' };
      await result({ type: 'javascript', eval: 'return x', runtime_assets: ['acme/teams'] });
      expect(tasks.at(-1)?.libraries).to.deep.equal(['// acme/teams of mutator "m"']);
    });

    it('that throws fails with its error, and times out by that name', async () => {
      answer = { error: 'ReferenceError: x is not defined' };
      const reason = 'mutator "m": ReferenceError: x is not defined';
      const mutator = { type: 'javascript', eval: 'x' };
      expect(await result(mutator)).to.deep.equal({ outcome: 'failed', reason, status: undefined });
      answer = { error: 'mutator timeout reached, execution halted' };
      expect(await result(mutator)).to.have.property('outcome', 'timed-out');
    });
  });
});

import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  assertServices,
  installService,
  quotedArgument,
  type RunTool,
  taskDefinition,
  uninstallService,
} from '../../../src/main/process/windows-service.ts';
import { AgentProcess } from '../../agent/agent-process.ts';

/** A task scheduler with or without the task. */
class Scheduler {
  readonly calls: string[] = [];
  definition = '';
  readonly #has: boolean;
  readonly #failing: string | undefined;

  constructor(has: boolean, failing?: string) {
    this.#has = has;
    this.#failing = failing;
  }

  run: RunTool = async (program, args) => {
    const [command = ''] = args;
    this.calls.push(`${program} ${args.filter((each) => !each.endsWith('task.xml')).join(' ')}`);
    if (command === '/Create') this.definition = readFileSync(args.at(-1) ?? '', 'utf16le');
    const fails = command === this.#failing || (command === '/Query' && !this.#has);
    return Promise.resolve({ code: fails ? 1 : 0, output: fails ? 'ERROR: Access is denied.' : '' });
  };
}

const failureOf = async (promise: Promise<void>): Promise<string> =>
  promise.then(
    () => 'nothing',
    (error: unknown) => (error as Error).message,
  );

describe('the service of the agent on Windows', () => {
  it('is installed as a task that runs with its flags from the start of the machine, and is started', async () => {
    const scheduler = new Scheduler(false);
    await installService(['--config-file', 'C:\\Program Files\\mon\\a&b.yml'], scheduler.run);
    expect(scheduler.calls).to.deep.equal([
      'schtasks.exe /Query /TN MonAgent',
      'schtasks.exe /Create /TN MonAgent /XML',
      'schtasks.exe /Run /TN MonAgent',
    ]);
    expect(scheduler.definition.codePointAt(0)).to.equal(0xfeff);
    expect(scheduler.definition).to.include(`<Command>${process.execPath}</Command>`);
    expect(scheduler.definition).to.match(
      /<Arguments>\S+mon-agent\.js service run --config-file &quot;C:\\Program Files\\mon\\a&amp;b\.yml&quot;<\/Arguments>/,
    );
  });

  it('is not installed twice', async () => {
    const scheduler = new Scheduler(true);
    expect(await failureOf(installService([], scheduler.run))).to.equal('service MonAgent already exists');
    expect(scheduler.calls).to.have.lengthOf(1);
  });

  it('names the reason when it cannot be installed', async () => {
    const scheduler = new Scheduler(false, '/Create');
    const text = 'schtasks /Create failed with exit code 1: ERROR: Access is denied.';
    expect(await failureOf(installService([], scheduler.run))).to.equal(text);
  });

  it('is stopped and removed', async () => {
    const scheduler = new Scheduler(true, '/End');
    await uninstallService(scheduler.run);
    expect(scheduler.calls.slice(1)).to.deep.equal([
      'schtasks.exe /End /TN MonAgent',
      'schtasks.exe /Delete /TN MonAgent /F',
    ]);
  });

  it('is not removed when it is not installed', async () => {
    const scheduler = new Scheduler(false);
    expect(await failureOf(uninstallService(scheduler.run))).to.equal('service MonAgent is not installed');
  });

  it('has no time limit and starts again after a failure', () => {
    const definition = taskDefinition('node.exe', []);
    expect(definition).to.include('<ExecutionTimeLimit>PT0S</ExecutionTimeLimit>');
    expect(definition).to.include('<RestartOnFailure><Interval>PT1M</Interval><Count>999</Count></RestartOnFailure>');
  });

  for (const [text, quoted] of [
    ['plain', 'plain'],
    ['', '""'],
    ['two words', '"two words"'],
    ['a"b', '"a\\"b"'],
    ['a\\"b', '"a\\\\\\"b"'],
    ['ends with \\', '"ends with \\\\"'],
    ['C:\\mon\\agent.yml', 'C:\\mon\\agent.yml'],
  ] as const) {
    it(`quotes the argument ${JSON.stringify(text)} as ${quoted}`, () => {
      expect(quotedArgument(text)).to.equal(quoted);
    });
  }

  it('is refused on other systems, with what to do there', async () => {
    const error = 'mon-agent service needs Windows; on this system the service manager runs "mon-agent start"';
    expect(() => assertServices('linux')).to.throw(error);
    expect(() => assertServices('win32')).to.not.throw();
    const agent = new AgentProcess(['service', 'install', '--config-file', '/a.yml']);
    expect(await agent.ended()).to.equal(1);
    expect(agent.log.at(-1)).to.include({ level: 'fatal', error, msg: 'error executing mon-agent' });
  });
});

import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../../config/parsing/config-error.ts';
import { PACKAGE_ROOT } from './package-root.ts';

const NAME = 'MonAgent';
const PROGRAM = join(PACKAGE_ROOT, 'bin', 'mon-agent.js');

/** Runs a program. Resolves to its exit code and its output; -1 when it cannot be started. */
export type RunTool = (program: string, args: readonly string[]) => Promise<{ code: number; output: string }>;

const runTool: RunTool = async (program, args) =>
  new Promise((resolve) => {
    execFile(program, args, { windowsHide: true }, (error, output, errors) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, output: `${output}${errors}`.trim() || (error?.message ?? '') });
    });
  });

const mistake = (rule: string): ConfigError => new ConfigError([{ flag: undefined, rule }]);

/** @throws ConfigError on a system other than Windows */
export function assertServices(platform: NodeJS.Platform): void {
  if (platform === 'win32') return;
  throw mistake('mon-agent service needs Windows; on this system the service manager runs "mon-agent start"');
}

/** Quotes an argument as programs of Windows parse their command line. */
export const quotedArgument = (text: string): string =>
  text !== '' && !/[\s"]/.test(text) ? text : `"${text.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, '$1$1')}"`;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** The task as the task scheduler reads it: it starts with the machine, as LocalSystem, and again after a failure. */
export function taskDefinition(command: string, args: readonly string[]): string {
  const line = args.map(quotedArgument).join(' ');
  return `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo><Description>mon-agent, which monitors this machine</Description></RegistrationInfo>
  <Triggers><BootTrigger><Enabled>true</Enabled></BootTrigger></Triggers>
  <Principals>
    <Principal id="Author"><UserId>S-1-5-18</UserId><RunLevel>HighestAvailable</RunLevel></Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure><Interval>PT1M</Interval><Count>999</Count></RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec><Command>${escaped(command)}</Command><Arguments>${escaped(line)}</Arguments></Exec>
  </Actions>
</Task>
`;
}

async function scheduler(run: RunTool, ...args: string[]): Promise<void> {
  const { code, output } = await run('schtasks.exe', args);
  if (code !== 0) throw new Error(`schtasks ${args[0] ?? ''} failed with exit code ${code}: ${output}`);
}

const isInstalled = async (run: RunTool): Promise<boolean> =>
  (await run('schtasks.exe', ['/Query', '/TN', NAME])).code === 0;

/**
 * Registers the agent with these flags as a task of the task scheduler and starts it. A Node.js program cannot answer the service
 * control manager, which would end it. @throws ConfigError if it is installed
 */
export async function installService(flags: readonly string[], run = runTool): Promise<void> {
  if (await isInstalled(run)) throw mistake(`service ${NAME} already exists`);
  const directory = await mkdtemp(join(tmpdir(), 'mon-agent-'));
  try {
    const file = join(directory, 'task.xml');
    const definition = taskDefinition(process.execPath, [PROGRAM, 'service', 'run', ...flags]);
    // The scheduler reads UTF-16 with a byte order mark.
    await writeFile(file, `\ufeff${definition}`, 'utf16le');
    await scheduler(run, '/Create', '/TN', NAME, '/XML', file);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  await scheduler(run, '/Run', '/TN', NAME);
}

/** Ends and removes the task. @throws ConfigError if there is none */
export async function uninstallService(run = runTool): Promise<void> {
  if (!(await isInstalled(run))) throw mistake(`service ${NAME} is not installed`);
  // It fails when the agent does not run.
  await run('schtasks.exe', ['/End', '/TN', NAME]);
  await scheduler(run, '/Delete', '/TN', NAME, '/F');
}

import { delimiter } from 'node:path';
import { constants } from 'node:os';
import { assetEnvironment, type InstalledAsset } from '../../assets/asset-environment.ts';
import { AssetFailed } from '../../assets/asset-failed.ts';
import type { AssetManager } from '../../assets/asset-manager.ts';
import { type CommandResult, runCommand } from '../../exec/process-group.ts';
import type { ProcessReaper } from '../../exec/process-reaper.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Asset } from '../../resources/asset.ts';
import { type AllowedProgram, allowedBy } from './allow-list.ts';
import { hasAllowedFile } from './allowed-file.ts';

/** A shell adds this to the number of the signal that ended a command. */
const SIGNAL_BASE = 128;
/** The check or hook may replace the status of a denied command with this annotation. */
const DENIED_STATUS_ANNOTATION = 'allow_list_on_deny_status';
const STATUS_UNKNOWN = 3;
const PATH = 'PATH=';

export interface CommandRunnerPorts {
  clock: Clock;
  /** When present, commands are terminated with this program. */
  reaper?: ProcessReaper | undefined;
  /** Undefined when assets are disabled. */
  assets: Pick<AssetManager, 'install'> | undefined;
  /** Empty when every command is allowed. */
  allowList: readonly AllowedProgram[];
}

/** A command of a check or hook, with its tokens filled. */
export interface Command {
  readonly command: string;
  readonly stdin: string | undefined;
  /** 0 means none. */
  readonly timeoutS: number;
  readonly assets: readonly Asset[];
  /** Entries `NAME=value`. */
  readonly secrets: readonly string[];
  /** Entries `NAME=value` that the allow list may withhold. */
  readonly variables: readonly string[];
}

/** A command that was not run. */
export type Refusal = 'denied' | AssetFailed;

/** Runs the commands that the allow list permits, with their assets. */
export class CommandRunner {
  readonly #ports: CommandRunnerPorts;

  constructor(ports: CommandRunnerPorts) {
    this.#ports = ports;
  }

  /** Whether commands may have assets. */
  get hasAssets(): boolean {
    return this.#ports.assets !== undefined;
  }

  /** Never rejects for a command that fails or is aborted. */
  async run(request: Command, signal: AbortSignal): Promise<CommandResult | Refusal> {
    const { allowList, clock, reaper } = this.#ports;
    const program = allowedBy(allowList, request.command);
    if (allowList.length > 0 && program === undefined) return 'denied';
    const assets = await this.#installed(request.assets, signal);
    if (assets instanceof AssetFailed) return assets;
    const variables = program?.allowsEnvironment === false ? [] : request.variables;
    const environment = [...assetEnvironment(assets), ...request.secrets, ...variables];
    // Without its assets an aborted command would miss its file, and seem to be denied.
    if (!signal.aborted && program !== undefined && program.sha512 !== '') {
      if (!(await hasAllowedFile(request.command, program.sha512, searchPathOf(environment)))) return 'denied';
    }
    const { command, stdin, timeoutS } = request;
    return runCommand({ command, stdin, environment, timeoutMs: timeoutS * 1_000, signal }, clock, reaper);
  }

  async #installed(assets: readonly Asset[], signal: AbortSignal): Promise<InstalledAsset[] | AssetFailed> {
    if (assets.length === 0) return [];
    if (this.#ports.assets === undefined) return new AssetFailed('', 'assets are disabled on this agent');
    try {
      return await this.#ports.assets.install(assets, signal);
    } catch (error) {
      if (error instanceof AssetFailed) return error;
      // An aborted installation is followed by an aborted command, which gives the result.
      if (signal.aborted) return [];
      throw error;
    }
  }
}

/** Later entries of the environment come first in the path. */
function searchPathOf(environment: readonly string[]): string {
  const paths = environment.filter((entry) => entry.startsWith(PATH)).map((entry) => entry.slice(PATH.length));
  return [...paths.toReversed(), process.env['PATH'] ?? ''].join(delimiter);
}

/** The status of a denied command. `max` is the largest status that its check or hook can have. */
export function deniedStatus(annotations: Readonly<Record<string, string>> | undefined, max: number): number {
  const text = annotations?.[DENIED_STATUS_ANNOTATION] ?? '';
  const status = /^\d+$/.test(text) ? Number(text) : NaN;
  return status <= max ? status : STATUS_UNKNOWN;
}

/** The status and the output of a command that was run. */
export function outcomeOf(result: CommandResult): { status: number; output: string } {
  if (result.signal === undefined) return result;
  return {
    status: SIGNAL_BASE + constants.signals[result.signal],
    output: `${result.output}Command killed by ${result.signal}\n`,
  };
}

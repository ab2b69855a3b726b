import { itReplaysInParallel } from '../golden-parallel.ts';
import { ManualClock } from '../manual-clock.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { AssetServer } from './asset-server.ts';
import { AGENT_EXCEPTIONS } from './exceptions.ts';
import { freePort } from '../free-port.ts';
import { PlayedBackend } from './played-backend.ts';
import { type AgentKind, Player } from './player.ts';
import { isRealProcess } from './real-processes.ts';
import { type Scenario, scenariosOf } from './scenario.ts';

/** Declares a test for each scenario of a recording of the agent. They run side by side. */
export function itReplaysAgentScenarios(file: string): void {
  const exceptions = AGENT_EXCEPTIONS.filter((each) => each.file === file);
  const scenarios = new Map(scenariosOf(file).map((scenario) => [scenario.scenario, scenario]));
  itReplaysInParallel([...scenarios.keys()], async (name) => {
    const scenario = scenarios.get(name);
    if (scenario === undefined) throw new Error(`there is no scenario ${name}`);
    const kind = isRealProcess(file, scenario) ? 'process' : { clock: clockFor(scenario) };
    await replay(scenario, kind, new Set(exceptions.filter((each) => each.scenario === name).map(({ step }) => step)));
  });
}

/** Steps that change nothing. Other steps are taken without a comparison when they are excepted. */
const OBSERVATIONS: ReadonlySet<string> = new Set(['log', 'no-log', 'path']);

/** A rate is measured by a manual clock. */
const clockFor = ({ steps }: Scenario): ManualClock | undefined =>
  steps.some(({ op }) => op === 'posts') ? new ManualClock() : undefined;

async function replay(scenario: Scenario, kind: AgentKind, excepted: ReadonlySet<number>): Promise<void> {
  const { backends: count = 1, backend = {}, routes = {}, files = {} } = scenario;
  const roles = Array.isArray(backend) ? backend : Array.from({ length: count }, () => backend);
  const directory = await temporaryDirectory();
  const backends = roles.map((role) => new PlayedBackend(role));
  for (const each of backends) await each.up();
  const assets = new AssetServer(routes);
  await assets.start();
  const ports = { api: await freePort(), sock: await freePort(), statsd: await freePort(), dead: await freePort() };
  const player = new Player(kind, directory, ports, backends, assets);
  try {
    for (const [path, content] of Object.entries(files)) player.writeFile(path, content);
    for (const [index, step] of scenario.steps.entries()) {
      if (step.only === 'reference') continue;
      const isExcepted = excepted.has(index + 1);
      if (isExcepted && OBSERVATIONS.has(step.op)) continue;
      await player
        .play(isExcepted ? { ...step, expect: undefined, ours: undefined } : step, index)
        .catch((error: unknown) => {
          const what = `step ${index + 1} (${step.op} ${JSON.stringify(step['note'] ?? '')})`;
          throw new Error(`${what}: ${(error as Error).message}\n${player.recentLog}`, { cause: error });
        });
    }
  } finally {
    // Agents in this process end without the delivery of their last events.
    for (const each of backends) await each.down();
    await player.stop();
    await assets.stop();
    await directory.remove();
  }
}

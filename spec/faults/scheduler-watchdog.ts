import { AnsweringAgent } from '../support/answering-agent.ts';
import { RestartableProcess } from '../support/restartable-process.ts';
import { ScheduleLoad } from '../support/schedule-load.ts';
import { compareTicks } from '../support/schedule-oracle.ts';

export interface WatchdogOptions {
  checks: number;
  intervalsS: readonly number[];
  forMs: number;
  seed: number;
  /** How often an agent leaves and comes back; never by default. */
  agentLeavesEveryMs?: number;
  /** How often the backend is killed; never by default. */
  killEveryMs?: number;
}

export interface WatchdogFigures {
  edits: number;
  kills: number;
  /** Ticks that were due by the configurations, and those that are recorded. */
  due: number;
  recorded: number;
  /** Ticks of all checks by outcome and reason. */
  outcomes: Record<string, number>;
  /** The same for one agent that leaves and comes back, and for one that stays. */
  ofAgents: Record<string, number>;
  answered: number;
  faults: string[];
}

const EDIT_EVERY_MS = 1_000;
const SETTLE_MS = 2_000;
/** Ticks of the agents whose result may still come: not compared. */
const RECENT_MS = 100_000;
/** A kill disturbs ticks until the agents are back. */
const AROUND_KILL_MS = 6_000;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs checks that are edited each second against the real program, and compares its record of ticks with the grid. */
export async function watchSchedules(options: WatchdogOptions): Promise<WatchdogFigures> {
  const program = await RestartableProcess.start();
  try {
    return await watch(program, options);
  } finally {
    await program.stop();
  }
}

async function watch(program: RestartableProcess, options: WatchdogOptions): Promise<WatchdogFigures> {
  const { forMs, agentLeavesEveryMs = Infinity, killEveryMs = Infinity } = options;
  const disturbed: [number, number][] = [];
  const connect = (name: string): Promise<AnsweringAgent> => AnsweringAgent.connect(program.backend, name, 'all');
  let agents = [await connect('stays'), await connect('moves')];
  let answered = 0;
  const dismiss = (agent: AnsweringAgent | undefined): void => {
    agent?.leave();
    answered += agent?.answered ?? 0;
  };
  await sleep(500);
  const load = new ScheduleLoad(() => program.api, options);
  await load.create();
  const beganMs = Date.now();
  let [nextLeaveMs, nextKillMs, kills] = [beganMs + agentLeavesEveryMs, beganMs + killEveryMs, 0];
  while (Date.now() < beganMs + forMs) {
    const editMs = Date.now();
    await load.edit();
    if (editMs >= nextLeaveMs) {
      nextLeaveMs += agentLeavesEveryMs;
      dismiss(agents[1]);
      await sleep(300);
      agents = [...agents.slice(0, 1), await connect('moves')];
    }
    if (editMs >= nextKillMs) {
      nextKillMs += killEveryMs;
      kills += 1;
      const killedMs = Date.now();
      await program.kill();
      for (const agent of agents) dismiss(agent);
      await program.resume();
      agents = [await connect('stays'), await connect('moves')];
      disturbed.push([killedMs - AROUND_KILL_MS, Date.now() + AROUND_KILL_MS]);
    }
    await sleep(Math.max(0, editMs + EDIT_EVERY_MS - Date.now()));
  }
  const endMs = Date.now();
  load.end(endMs);
  await sleep(SETTLE_MS);
  const isDisturbed = (atMs: number): boolean =>
    disturbed.some(([fromMs, untilMs]) => fromMs <= atMs && atMs <= untilMs);
  const figures = await compare(load, endMs, isDisturbed);
  for (const agent of agents) dismiss(agent);
  return { ...figures, edits: load.edits, kills, answered };
}

async function compare(load: ScheduleLoad, endMs: number, isDisturbed: (atMs: number) => boolean) {
  const figures = { due: 0, recorded: 0, outcomes: {}, ofAgents: {}, faults: [] as string[] };
  for (const [name, epochs] of load.epochs) {
    const ticks = await load.ticks(name);
    const { due, recorded, faults } = compareTicks(name, epochs, ticks, isDisturbed);
    figures.due += due;
    figures.recorded += recorded;
    figures.faults.push(...faults);
    count(figures.outcomes, ticks.values());
    for (const agent of ['stays', 'moves']) {
      const ofAgent = await load.ticks(name, agent);
      count(figures.ofAgents, ofAgent.values());
      const untilMs = agent === 'stays' ? endMs : endMs - RECENT_MS;
      figures.faults.push(
        ...withoutOutcome(ticks, ofAgent, untilMs).map((atMs) => `${name} ${atMs}: none for ${agent}`),
      );
    }
  }
  return figures;
}

/** Ticks after the first of an agent that ran and have no outcome for it. */
function withoutOutcome(
  ticks: ReadonlyMap<number, string>,
  ofAgent: ReadonlyMap<number, string>,
  untilMs: number,
): number[] {
  const firstMs = Math.min(...ofAgent.keys());
  return [...ticks].flatMap(([atMs, outcome]) =>
    outcome === 'ran' && atMs >= firstMs && atMs <= untilMs && !ofAgent.has(atMs) ? atMs : [],
  );
}

function count(counts: Record<string, number>, outcomes: Iterable<string>): void {
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
}

import { InputGenerator, checkOf, FLAPPING_CHECK } from './input-generator.ts';
import type { Result } from './oracle/inputs.ts';
import type { NextDue } from './oracle/alerts.ts';
import { beginMsOf, endMsOf, type ExpectedSilence } from './oracle/silences.ts';
import { ApiUser } from './api-user.ts';
import type { SimulatedAgent } from './simulated-agent.ts';
import type { World } from './world.ts';

/** Relative frequency of each kind of step. */
const WEIGHTS = {
  actAsAgent: 30,
  putEvent: 10,
  reachDeadline: 8,
  putSilence: 5,
  reachSilenceChange: 4,
  deleteEvent: 3,
  putEntity: 3,
  putHandler: 2,
  deleteEntity: 1.5,
  deleteSilence: 1.5,
  putCheck: 1.5,
  deleteCheck: 1,
  deleteHandler: 1,
  failStore: 1,
  crash: 1,
  flapCheck: 0.8,
  pauseProcess: 0.7,
  killAgent: 0.7,
  setClock: 0.7,
  stopProcess: 0.5,
  suspendMachine: 0.3,
} as const;
type StepKind = keyof typeof WEIGHTS;
const STEP_KINDS = Object.entries(WEIGHTS) as [StepKind, number][];
const TOTAL_WEIGHT = STEP_KINDS.reduce((sum, [, weight]) => sum + weight, 0);

/** Number of results from which flapping is computed. */
const FLAP_WINDOW = 21;
const MIN_TTL_S = 5;
const INVALID_TTL_S = 3;
/** Longest wait for the start or the end of a silence. */
const SOON_MS = 20_000;

/** Applies random steps to a simulated world. */
export class RandomRun implements Record<StepKind, () => void | Promise<void>> {
  readonly #world: World;
  readonly #generate: InputGenerator;
  readonly #user: ApiUser;

  constructor(world: World) {
    this.#world = world;
    this.#generate = new InputGenerator(world.random);
    this.#user = new ApiUser(world, this.#generate);
    for (const name of this.#generate.agents) world.addAgent(this.#generate.agentSettings(name));
  }

  /** Starts the backend, creates the handlers and connects all agents. */
  async begin(): Promise<void> {
    await this.#world.start();
    for (const name of this.#generate.handlers) this.#user.putHandler(name);
    for (const agent of this.#world.agents) this.#connect(agent);
    await this.#world.clock.settle();
  }

  /** Lets a random time pass, then performs a random step. */
  async step(): Promise<void> {
    await this.#world.clock.advance(this.#gapMs());
    await this[this.#choice()]();
    await this.#world.clock.settle();
    this.#world.compareSessions();
  }

  #below(count: number): number {
    return this.#world.random.below(count);
  }

  #gapMs(): number {
    const { random } = this.#world;
    if (random.oneIn(5)) return 0;
    return random.below(random.oneIn(8) ? 6_000 : 900);
  }

  #choice(): StepKind {
    let left = this.#world.random.next() * TOTAL_WEIGHT;
    for (const [kind, weight] of STEP_KINDS) {
      left -= weight;
      if (left <= 0) return kind;
    }
    return 'actAsAgent';
  }

  actAsAgent(): void {
    const { random } = this.#world;
    const agent = this.#generate.pick(this.#world.agents);
    if (!agent.isConnected && random.oneIn(3)) this.#connect(agent);
    else if (random.oneIn(40)) agent.leave();
    else if (random.oneIn(80)) agent.restart();
    else if (random.oneIn(3)) this.#keepalive(agent);
    else for (let count = random.oneIn(6) ? 1 + this.#below(8) : 1; count > 0; count -= 1) this.#result(agent);
  }

  #connect(agent: SimulatedAgent): void {
    this.#world.connect(agent);
    if (!this.#world.random.oneIn(4)) this.#keepalive(agent);
  }

  #keepalive(agent: SimulatedAgent): void {
    const sentS = this.#world.nowS;
    agent.sendKeepalive(sentS, () => {
      this.#world.input((oracle, input) => {
        if (!oracle.keepalive({ ...agent.settings.keepalive, sentS })) agent.refusedBy = input;
      });
    });
  }

  #result(agent: SimulatedAgent, change: Partial<Result> = {}): void {
    if (agent.isFull) return;
    const { nowS, random } = this.#world;
    const result: Result = {
      ...this.#generate.result(agent.name, nowS, agent.settings.keepalive.subscriptions),
      proxy: this.#generate.proxy(),
      ...change,
    };
    const isInvalid = random.oneIn(30);
    const check = isInvalid ? { ...checkOf(result), ttl: INVALID_TTL_S } : checkOf(result);
    agent.sendResult(nowS, check, (numbered) => {
      this.#world.input((oracle) => {
        if (!isInvalid) oracle.result(result, numbered);
        else if (numbered !== undefined) oracle.refused(agent.name, numbered);
      });
    });
  }

  /** Sends a full flap window of results, alternating or all passing. */
  flapCheck(): void {
    const agent = this.#generate.pick(this.#world.agents);
    const isSteady = this.#world.random.oneIn(3);
    for (let count = 0; count < FLAP_WINDOW; count += 1) {
      this.#result(agent, { check: FLAPPING_CHECK, proxy: undefined, status: isSteady ? 0 : count % 2 });
    }
  }

  putEvent(): void {
    this.#user.putEvent();
  }

  deleteEvent(): void {
    this.#user.deleteEvent();
  }

  putEntity(): void {
    this.#user.putEntity();
  }

  deleteEntity(): void {
    this.#user.deleteEntity();
  }

  putSilence(): void {
    this.#user.putSilence();
  }

  /** Deletes an existing silence most of the time, otherwise one that may not exist. */
  deleteSilence(): void {
    const { nowS, oracle, random } = this.#world;
    const names = [...oracle.head.silences.keys()];
    const isKnown = names.length > 0 && !random.oneIn(4);
    this.#user.deleteSilence(isKnown ? this.#generate.pick(names) : this.#generate.silenceName(nowS));
  }

  /** Sends a result in the last millisecond before a silence begins or ends, or in the first one after. */
  async reachSilenceChange(): Promise<void> {
    const { clock, oracle, random } = this.#world;
    const isSoon = (atMs: number): boolean => atMs > clock.nowMs() && atMs < clock.nowMs() + SOON_MS;
    const changes = [...oracle.head.silences.values()].flatMap((silence) =>
      [beginMsOf(silence.beginS), endMsOf(silence.expireAtS)].filter(isSoon).map((atMs) => ({ silence, atMs })),
    );
    if (changes.length === 0) return;
    const { silence, atMs } = this.#generate.pick(changes);
    await clock.advance(Math.max(0, atMs - clock.nowMs() - (random.oneIn(2) ? 1 : 0)));
    this.#user.putEvent(this.#reachedBy(silence));
  }

  #reachedBy({ subscription, check: silenced }: ExpectedSilence): Partial<Result> {
    const [, entity = this.#generate.entity()] = subscription.split(':');
    const check = this.#generate.isCheck(silenced) ? silenced : this.#generate.check();
    return { entity, check, entityClass: this.#generate.classOf(entity) };
  }

  putCheck(): void {
    this.#user.putCheck();
  }

  deleteCheck(): void {
    this.#user.deleteCheck();
  }

  putHandler(): void {
    this.#user.putHandler();
  }

  deleteHandler(): void {
    this.#user.deleteHandler();
  }

  /** Sends the awaited keepalive or result in the last millisecond before its deadline, or in the first one after. */
  async reachDeadline(): Promise<void> {
    const { agents, random } = this.#world;
    const due = await this.#untilNextDue(random.oneIn(2) ? 1 : 0);
    if (due === undefined) return;
    const [, entity = '', check = ''] = due.key.split('/');
    const agent = agents.find(({ name }) => name === entity);
    if (due.kind === 'check-ttl') this.#user.putEvent({ entity, check });
    else if (agent !== undefined) this.#keepalive(agent);
  }

  /** Lets time pass until `leftMs` before the next alert. */
  async #untilNextDue(leftMs: number): Promise<NextDue | undefined> {
    const { clock, isWritable, oracle } = this.#world;
    const due = isWritable ? oracle.nextDue() : undefined;
    if (due !== undefined) await clock.advance(Math.max(0, due.atMs - oracle.steadyMs - leftMs));
    return due;
  }

  /** Lets a keepalive and a check TTL of one agent expire at about the same time, while the process is paused. */
  async killAgent(): Promise<void> {
    const { clock, isWritable, agents } = this.#world;
    const agent = this.#generate.pick(agents);
    const { warningS, criticalS } = agent.settings.keepalive;
    const timeoutS = warningS === 0 ? criticalS : warningS;
    if (!isWritable || !agent.isConnected || timeoutS <= MIN_TTL_S) return;
    const change = { check: 'c1', proxy: undefined, ttlS: timeoutS - 1 };
    this.#keepalive(agent);
    await clock.advance(600 + this.#below(300));
    this.#result(agent, change);
    await clock.advance(100 + this.#below(900));
    this.#result(agent, change);
    agent.leave();
    await clock.advance((timeoutS - 2) * 1_000 + this.#below(500));
    await this.#untilNextDue(1);
    await this.#world.pauseUnnoticed();
  }

  failStore(): void {
    this.#world.failWrites(1 + this.#below(4));
  }

  async crash(): Promise<void> {
    const world = this.#world;
    world.crash();
    await world.clock.advance(this.#below(world.random.oneIn(3) ? 30_000 : 1_000));
    if (world.random.oneIn(8)) await world.jump(this.#below(20_000) - 10_000);
    await world.start();
    for (const agent of world.agents) if (!world.random.oneIn(3)) this.#connect(agent);
  }

  /** Pauses the process over the next alert, for a time that it does not notice. */
  async pauseProcess(): Promise<void> {
    await this.#untilNextDue(1);
    await this.#world.pauseUnnoticed();
  }

  stopProcess(): Promise<void> {
    return this.#world.stall(this.#below(40_000));
  }

  suspendMachine(): Promise<void> {
    return this.#world.stall(this.#below(10_000), 10_000 + this.#below(600_000));
  }

  setClock(): Promise<void> {
    const { random } = this.#world;
    const byMs = this.#below(random.oneIn(2) ? 3_600_000 : 5_000);
    return this.#world.jump(random.oneIn(2) ? byMs : -byMs);
  }
}

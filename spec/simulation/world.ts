import type { LedgerEntry } from '../../src/store/ledger.ts';
import type { Commands } from '../../src/actors/administration/commands.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { START_MS } from '../support/restartable-backend.ts';
import { RecordedLog } from '../support/recorded-log.ts';
import { Answers } from './answers.ts';
import { Durability } from './durability.ts';
import { Differences } from './differences.ts';
import { compareErrors, compareLedger } from './final-comparison.ts';
import { HandlerRuns } from './handler-runs.ts';
import { Oracle, Undecided } from './oracle/oracle.ts';
import { LOOK_INTERVAL_MS, SilenceTiming } from './silence-timing.ts';
import { SimulatedAgent, type AgentHabits } from './simulated-agent.ts';
import { SimulatedBackend } from './simulated-backend.ts';
import { SimulatedDisk, type WritePlan } from './simulated-store.ts';
import { SimulationClock } from './simulation-clock.ts';

/** A process that comes to run later than this knows that it was stopped (docs/decisions/0008). */
const UNNOTICED_STALL_MS = 1_900;
/** A stop of so long is noticed for certain: some timer is due each five seconds. */
const NOTICED_STALL_MS = 7_100;
/** For the outbox to become empty, and everybody to be answered. */
const MAX_CLOSING_MS = 60_000;
/** Of a process; 0 = none. There are five entities at most. */
const ENTITY_LIMITS = [0, 0, 5, 4, 3];
const NO_ROOM_CLOSE_CODE = 1008;

/** The backend, its agents, its disk and its time. What is done to it is told to the oracle, too. */
export class World {
  readonly random: SeededRandom;
  readonly clock = new SimulationClock(START_MS);
  readonly oracle = new Oracle(this.clock);
  readonly differences = new Differences();
  readonly agents: SimulatedAgent[] = [];
  readonly handlerRuns: HandlerRuns;
  readonly durability: Durability;
  readonly #silenceTiming = new SilenceTiming(this.differences, this.oracle);
  readonly #disk = new SimulatedDisk();
  readonly #log = new RecordedLog();
  #backend: SimulatedBackend | undefined;
  #isCalm = true;
  #failuresLeft = 0;
  readonly #answers: Answers;
  #cancelAlerts: (() => void) | undefined;
  /** Set when two alerts came at one moment whose order nobody specified. */
  isUndecided = false;
  crashes = 0;
  /** That two connections of one name got. */
  sharedRequests = 0;
  losses = 0;

  constructor(seed: number) {
    this.random = new SeededRandom(seed);
    this.handlerRuns = new HandlerRuns(this.differences, () => this.#handlerMs());
    this.durability = new Durability({
      oracle: this.oracle,
      disk: this.#disk,
      clock: this.clock,
      handlerRuns: this.handlerRuns,
      silenceTiming: this.#silenceTiming,
      differences: this.differences,
      plan: () => this.#planWrite(),
      hasSession: (key) => this.agents.some(({ name, isConnected }) => isConnected && key === `default/${name}`),
      failed: () => {
        this.losses += 1;
        this.#awaitAlerts();
      },
      recovered: () => {
        this.#silenceTiming.disturbed(this.clock.nowMs());
        this.#awaitAlerts();
      },
    });
    this.#answers = new Answers(this.durability, this.differences);
    SimulatedBackend.initialise(this.#disk, START_MS);
  }

  get isUp(): boolean {
    return this.#backend !== undefined;
  }

  get isWritable(): boolean {
    return this.isUp && !this.durability.isFailing;
  }

  get nowS(): number {
    return Math.floor(this.clock.nowMs() / 1_000);
  }

  addAgent(habits: AgentHabits): void {
    const agent = new SimulatedAgent(habits, this.random, ({ queue, n }) => {
      const durable = this.durability.durable.queues.get(`${habits.name} ${queue}`) ?? 0;
      if (n > durable) this.differences.add(`${habits.name} was promised up to ${n}, but only ${durable} is durable`);
    });
    this.agents.push(agent);
  }

  /** A new process on the disk as it is. Its first write is slow and does not fail. */
  async start(): Promise<void> {
    const { clock, durability, oracle } = this;
    this.handlerRuns.processStarted();
    oracle.began(durability.aliveMs);
    oracle.entityLimit = ENTITY_LIMITS[this.random.below(ENTITY_LIMITS.length)] ?? 0;
    const log = this.#log;
    const backend = new SimulatedBackend({
      disk: this.#disk,
      clock,
      log,
      observer: durability,
      run: this.handlerRuns.run,
      entityLimit: oracle.entityLimit,
    });
    let isRunning = false;
    const started = backend.start().then(() => {
      isRunning = true;
      this.#backend = backend;
      this.#isCalm = false;
      this.#silenceTiming.disturbed(clock.nowMs());
      this.#awaitAlerts();
    });
    while (!isRunning) await clock.advance(1);
    await started;
    await clock.advance(0);
  }

  crash(): void {
    const kept = this.#backend?.crash(this.random.oneIn(2)) ?? false;
    this.#backend = undefined;
    this.crashes += 1;
    this.#isCalm = true;
    this.#failuresLeft = 0;
    this.#answers.forget();
    this.durability.crashed(kept);
    this.#awaitAlerts();
    for (const agent of this.agents) agent.lose();
    this.durability.compareDisk();
  }

  /** The next writes fail, probes included. */
  failWrites(count: number): void {
    this.#failuresLeft = count;
  }

  /** Unless its handshake is refused, because its entity is new and there is no room; some have passed it before. */
  connect(agent: SimulatedAgent): void {
    if (!this.isWritable || agent.isConnected) return;
    const hasRoom = this.oracle.hasRoomFor(agent.name, this.durability.durable);
    this.differences.compare(`room for ${agent.name}`, hasRoom, this.#backend?.hasRoomFor(agent.name));
    if (!hasRoom && !this.random.oneIn(3)) return;
    const { habits, queueId } = agent;
    const hello = { agentName: agent.name, namespace: 'default', subscriptions: [], user: 'agent', queueId };
    const opening = { hello, username: 'agent', address: '192.0.2.1:40000', codec: habits.codec };
    this.#backend?.connect(agent.connect(), opening);
    agent.resend();
  }

  /** An input as the backend reads it. */
  told(tell: (oracle: Oracle, input: number) => void): void {
    tell(this.oracle, this.durability.nextInput());
    this.#awaitAlerts();
  }

  /** Section 6.6: connections of one name are asked the same. Section 11: one is closed when there is no room for its entity, and only then. */
  compareSessions(): void {
    const asked = this.agents.map((agent) => ({ name: agent.name, requests: agent.takeRequests() }));
    for (const [index, { name, requests }] of asked.entries()) {
      const earlier = asked.slice(0, index).find((other) => other.name === name)?.requests;
      if (requests === undefined || earlier === undefined) continue;
      this.differences.compare(`requests to another agent ${name}`, earlier, requests);
      this.sharedRequests += requests.length;
    }
    for (const { name, closeCode, refusedBy } of this.agents) {
      if (closeCode === NO_ROOM_CLOSE_CODE && refusedBy === undefined)
        this.differences.add(`${name} was closed for no reason`);
    }
  }

  /** A person's command, with what it must be answered: nothing, or the code of an error. */
  command(send: (commands: Commands) => Promise<unknown>, predict: (oracle: Oracle) => string | undefined): void {
    if (this.#backend === undefined) return;
    const { commands } = this.#backend.system;
    if (this.durability.isFailing) {
      this.#answers.expectRefusal(send(commands));
      return;
    }
    const input = this.durability.nextInput();
    const expected = predict(this.oracle);
    this.#awaitAlerts();
    this.#answers.expect(send(commands), input, expected);
  }

  /**
   * Not while keepalives wait to be read: they would look as old as the jump is long. Nor while something is written: by the
   * time that it says, a silence may be over that is not by the new one.
   */
  async jump(ms: number): Promise<void> {
    while (this.#backend?.isWriting === true && !this.durability.isFailing) await this.clock.advance(10);
    if (this.durability.isFailing) return;
    this.clock.jump(ms);
    this.#silenceTiming.clockWasSet(this.clock.nowMs());
  }

  /** The process does not run for a while, too short to be noticed. */
  async stumble(): Promise<void> {
    await this.#calmly(() => this.clock.stall(1 + this.random.below(UNNOTICED_STALL_MS)));
  }

  /** The process is stopped, and after `suspendMs` of sleep of its machine. */
  async stall(forMs: number, suspendMs = 0): Promise<void> {
    await this.#calmly(async () => {
      this.clock.suspend(suspendMs);
      const ms = NOTICED_STALL_MS + forMs;
      const blindMs = ms + suspendMs;
      this.oracle.wasBlind(this.oracle.steadyMs + ms, blindMs, blindMs + LOOK_INTERVAL_MS);
      this.#awaitAlerts();
      await this.clock.stall(ms);
    });
  }

  /** With nothing in flight: whether a write or its failure comes before a late timer is not specified. */
  async #calmly(run: () => Promise<void>): Promise<void> {
    this.#isCalm = true;
    this.#failuresLeft = 0;
    while (this.#backend?.isWriting === true || this.durability.isFailing) await this.clock.advance(100);
    this.#silenceTiming.disturbed(Infinity);
    await run();
    this.#silenceTiming.disturbed(this.clock.nowMs());
    await this.clock.advance(0);
    this.#isCalm = false;
  }

  /** Lets everything come to its end, and looks at all of it. */
  async close(): Promise<void> {
    this.#failuresLeft = 0;
    if (!this.isUp) await this.start();
    await this.#comeToRest();
    await this.clock.advance(LOOK_INTERVAL_MS);
    await this.#comeToRest();
    this.#isCalm = true;
    await this.clock.advance(0);
    this.#silenceTiming.compareOverdue(this.clock.nowMs());
    this.#compareRefused();
    this.differences.compare('answers that are missing', 0, this.#answers.missing);
    this.differences.compare('entries left in the outbox', 0, this.handlerRuns.waiting);
    this.crash();
    compareLedger(this.ledger, this.differences);
    compareErrors(this.#log.errors, this.losses, this.differences);
  }

  async #comeToRest(): Promise<void> {
    const untilMs = this.clock.monotonicMs() + MAX_CLOSING_MS;
    while (this.#isBusy && this.clock.monotonicMs() < untilMs && this.differences.found.length === 0)
      await this.clock.advance(100);
  }

  get #isBusy(): boolean {
    return (
      this.#answers.missing > 0 ||
      this.handlerRuns.waiting > 0 ||
      this.#backend?.isWriting === true ||
      this.durability.isFailing
    );
  }

  get ledger(): LedgerEntry[] {
    return this.#disk.ledger.map((text) => JSON.parse(text) as LedgerEntry);
  }

  #compareRefused(): void {
    for (const { name, refusedBy, isConnected } of this.agents) {
      if (refusedBy === undefined || !this.durability.isDurable(refusedBy)) continue;
      if (isConnected) this.differences.add(`${name} was not closed although there is no room for its entity`);
    }
  }

  /** The oracle's alerts come at their own time, on the same clock. */
  #awaitAlerts(): void {
    this.#cancelAlerts?.();
    this.#cancelAlerts = undefined;
    const due = this.isWritable ? this.oracle.nextDue() : undefined;
    if (due === undefined) return;
    this.#cancelAlerts = this.clock.after(due.atMs - this.oracle.steadyMs, () => {
      this.#alert();
    });
  }

  #alert(): void {
    try {
      this.oracle.alert();
      this.#awaitAlerts();
    } catch (error) {
      if (!(error instanceof Undecided)) throw error;
      this.isUndecided = true;
    }
  }

  #planWrite(): WritePlan {
    const { random } = this;
    if (this.#isCalm) return { delayMs: 0, fails: false };
    const delayMs = random.oneIn(2) ? 0 : random.below(random.oneIn(20) ? 3_000 : 30);
    if (this.#failuresLeft === 0) return { delayMs, fails: false };
    this.#failuresLeft -= 1;
    return { delayMs, fails: true };
  }

  #handlerMs(): number {
    return this.random.oneIn(3) ? this.random.below(4_000) : 0;
  }
}

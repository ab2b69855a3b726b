import type { LedgerEntry } from '../../src/store/ledger/ledger.ts';
import type { Commands } from '../../src/actors/administration/commands.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { START_MS } from '../support/restartable-backend.ts';
import { RecordedLog } from '../support/recorded-log.ts';
import { AlertTimer } from './alert-timer.ts';
import { Answers } from './answers.ts';
import { Durability } from './durability.ts';
import { Differences } from './differences.ts';
import { compareErrors, compareLedger } from './final-comparison.ts';
import { HandlerRuns } from './handler-runs.ts';
import { Oracle } from './oracle/oracle.ts';
import { LOOK_INTERVAL_MS, SilenceTiming } from './silence-timing.ts';
import { SimulatedAgent, type AgentSettings } from './simulated-agent.ts';
import { SimulatedBackend } from './simulated-backend.ts';
import { SimulatedDisk, type WritePlan } from './simulated-store.ts';
import { SimulationClock } from './simulation-clock.ts';

/** The backend does not notice a shorter pause of its process (docs/decisions/0008). */
const MAX_UNNOTICED_PAUSE_MS = 1_900;
/** The backend notices every longer pause: some timer is due every five seconds. */
const MIN_NOTICED_PAUSE_MS = 7_100;
/** Time limit at the end of a run for an empty outbox and all answers. */
const MAX_CLOSING_MS = 60_000;
/** Entity limits of a process, 0 = none. A run has at most five entities. */
const ENTITY_LIMITS = [0, 0, 5, 4, 3];
const ENTITY_LIMIT_CLOSE_CODE = 1008;

/** The simulated backend with its agents, disk and clock. It passes every input to the oracle as well. */
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
  /** While true, writes are immediate and do not fail. */
  #writesAreReliable = true;
  #failuresLeft = 0;
  readonly #answers: Answers;
  readonly #alerts = new AlertTimer(this.clock, this.oracle, () => this.isWritable);
  crashes = 0;
  /** Check requests that both connections of one name received. */
  sharedRequests = 0;
  storeFailures = 0;

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
        this.storeFailures += 1;
        this.#alerts.reset();
      },
      recovered: () => {
        this.#silenceTiming.disturbed(this.clock.nowMs());
        this.#alerts.reset();
      },
    });
    this.#answers = new Answers(this.durability, this.differences);
    SimulatedBackend.initialise(this.#disk, START_MS);
  }

  /** Whether simultaneous alerts have made the rest of the run unpredictable. */
  get isUndecided(): boolean {
    return this.#alerts.isUndecided;
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

  addAgent(settings: AgentSettings): void {
    const agent = new SimulatedAgent(settings, this.random, ({ queue, n }) => {
      const durable = this.durability.durable.queues.get(`${settings.name} ${queue}`) ?? 0;
      if (n > durable)
        this.differences.add(`${settings.name} received an acknowledgement of ${n}, but only ${durable} is durable`);
    });
    this.agents.push(agent);
  }

  /** Starts a new process on the present disk. Its first write does not fail. */
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
      handleWith: (of) => this.handlerRuns.handleWith(of),
      entityLimit: oracle.entityLimit,
    });
    let isRunning = false;
    const started = backend.start().then(() => {
      isRunning = true;
      this.#backend = backend;
      this.#writesAreReliable = false;
      this.#silenceTiming.disturbed(clock.nowMs());
      this.#alerts.reset();
    });
    while (!isRunning) await clock.advance(1);
    await started;
    await clock.advance(0);
  }

  crash(): void {
    const kept = this.#backend?.crash(this.random.oneIn(2)) ?? false;
    this.#backend = undefined;
    this.crashes += 1;
    this.#writesAreReliable = true;
    this.#failuresLeft = 0;
    this.#answers.processCrashed();
    this.durability.crashed(kept);
    this.#alerts.reset();
    for (const agent of this.agents) agent.connectionLost();
    this.durability.compareDisk();
  }

  /** Lets the next `count` writes fail, probes included. */
  failWrites(count: number): void {
    this.#failuresLeft = count;
  }

  /**
   * Connects an agent. The handshake refuses a new entity that exceeds the limit; one time in three the connection is opened all the
   * same, as if the handshake had come before the limit was reached.
   */
  connect(agent: SimulatedAgent): void {
    if (!this.isWritable || agent.isConnected) return;
    const hasRoom = this.oracle.hasRoomFor(agent.name, this.durability.durable);
    this.differences.compare(`entity limit allows ${agent.name}`, hasRoom, this.#backend?.hasRoomFor(agent.name));
    if (!hasRoom && !this.random.oneIn(3)) return;
    const { settings, queueId } = agent;
    const hello = { agentName: agent.name, namespace: 'default', subscriptions: [], user: 'agent', queueId };
    const opening = { hello, username: 'agent', address: '192.0.2.1:40000', codec: settings.codec, isMutualTls: false };
    this.#backend?.connect(agent.connect(), opening);
    agent.resend();
  }

  /** Passes an input to the oracle at the moment at which the backend reads it. */
  input(apply: (oracle: Oracle, input: number) => void): void {
    apply(this.oracle, this.durability.nextInput());
    this.#alerts.reset();
  }

  /**
   * Checks that connections of one name receive the same check requests (section 6.6), and that the backend closes a connection for
   * the entity limit only if the limit is reached (section 11).
   */
  compareSessions(): void {
    const received = this.agents.map((agent) => ({ name: agent.name, requests: agent.takeRequests() }));
    for (const [index, { name, requests }] of received.entries()) {
      const earlier = received.slice(0, index).find((other) => other.name === name)?.requests;
      if (requests === undefined || earlier === undefined) continue;
      this.differences.compare(`check requests to the second agent ${name}`, earlier, requests);
      this.sharedRequests += requests.length;
    }
    for (const { name, closeCode, refusedBy } of this.agents) {
      if (closeCode === ENTITY_LIMIT_CLOSE_CODE && refusedBy === undefined)
        this.differences.add(`${name} was closed although the entity limit allows it`);
    }
  }

  /** Sends an API command. `predict` returns the class name of the expected error, or undefined for success. */
  command(send: (commands: Commands) => Promise<unknown>, predict: (oracle: Oracle) => string | undefined): void {
    if (this.#backend === undefined) return;
    const { commands } = this.#backend.system;
    if (this.durability.isFailing) {
      this.#answers.expectRefusal(send(commands));
      return;
    }
    const input = this.durability.nextInput();
    const expected = predict(this.oracle);
    this.#alerts.reset();
    this.#answers.expect(send(commands), input, expected);
  }

  /**
   * Sets the wall clock. It waits until nothing is being written, because a silence may have ended by the time of the write and not
   * by the new time. It does nothing while the store fails: held keepalives would look as old as the jump is long.
   */
  async jump(ms: number): Promise<void> {
    while (this.#backend?.isWriting === true && !this.durability.isFailing) await this.clock.advance(10);
    if (this.durability.isFailing) return;
    this.clock.jump(ms);
    this.#silenceTiming.clockWasSet(this.clock.nowMs());
  }

  /** Pauses the process for a time that it does not notice. */
  async pauseUnnoticed(): Promise<void> {
    await this.#withReliableWrites(() => this.clock.stall(1 + this.random.below(MAX_UNNOTICED_PAUSE_MS)));
  }

  /** Stops the process for a time that it notices, after the machine was suspended for `suspendMs`. */
  async stall(forMs: number, suspendMs = 0): Promise<void> {
    await this.#withReliableWrites(async () => {
      this.clock.suspend(suspendMs);
      const ms = MIN_NOTICED_PAUSE_MS + forMs;
      const blindMs = ms + suspendMs;
      this.oracle.wasBlind(this.oracle.steadyMs + ms, blindMs, blindMs + LOOK_INTERVAL_MS);
      this.#alerts.reset();
      await this.clock.stall(ms);
    });
  }

  /** Waits until no write is in flight: whether a write ends before a late timer is not specified. */
  async #withReliableWrites(run: () => Promise<void>): Promise<void> {
    this.#writesAreReliable = true;
    this.#failuresLeft = 0;
    while (this.#backend?.isWriting === true || this.durability.isFailing) await this.clock.advance(100);
    this.#silenceTiming.disturbed(Infinity);
    await run();
    this.#silenceTiming.disturbed(this.clock.nowMs());
    await this.clock.advance(0);
    this.#writesAreReliable = false;
  }

  /** Ends the run: waits for all pending work, then compares everything. */
  async close(): Promise<void> {
    this.#failuresLeft = 0;
    if (!this.isUp) await this.start();
    await this.#drain();
    await this.clock.advance(LOOK_INTERVAL_MS);
    await this.#drain();
    this.#writesAreReliable = true;
    await this.clock.advance(0);
    this.#silenceTiming.compareOverdue(this.clock.nowMs());
    this.#compareRefused();
    this.differences.compare('missing answers', 0, this.#answers.missing);
    this.differences.compare('entries in the outbox at the end', 0, this.handlerRuns.waiting);
    this.crash();
    compareLedger(this.ledger, this.differences);
    compareErrors(this.#log.errors, this.storeFailures, this.differences);
  }

  async #drain(): Promise<void> {
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
      if (isConnected) this.differences.add(`${name} was not closed although it exceeds the entity limit`);
    }
  }

  #planWrite(): WritePlan {
    const { random } = this;
    if (this.#writesAreReliable) return { delayMs: 0, fails: false };
    const delayMs = random.oneIn(2) ? 0 : random.below(random.oneIn(20) ? 3_000 : 30);
    if (this.#failuresLeft === 0) return { delayMs, fails: false };
    this.#failuresLeft -= 1;
    return { delayMs, fails: true };
  }

  #handlerMs(): number {
    return this.random.oneIn(3) ? this.random.below(4_000) : 0;
  }
}

import type { AgentSession } from '../../../src/actors/agents/agent-session.ts';
import { reportRequest } from '../../../src/actors/schedules/schedule-reports.ts';
import { checkChanged } from '../../../src/actors/schedules/schedules.ts';
import { ActorSystem } from '../../../src/actors/system.ts';
import { type Check, parseCheckShape } from '../../../src/resources/check.ts';
import { StoreUnavailable } from '../../../src/resources/errors.ts';
import { parseEvent } from '../../../src/resources/event.ts';
import { checkOutcomes, entityOutcomes, type TickOutcomeAt } from '../../../src/rules/entity-ticks.ts';
import { emptyPuts, type CheckRequested } from '../../../src/store/commit/decision.ts';
import { resourceKey } from '../../../src/store/encoding/keyspace.ts';
import { readResource } from '../../../src/store/resource-store.ts';
import { TickStore } from '../../../src/store/tick-store.ts';
import { quietSession } from '../quiet-session.ts';
import { checkEvent } from '../../support/example-events.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { ProcessClock } from '../../support/process-clock.ts';
import { RecordedLog } from '../../support/recorded-log.ts';
import type { Epoch } from '../../support/schedule-oracle.ts';

/** A result that an agent sent for a request. */
export interface SentResult {
  agent: string;
  check: string;
  tickAtMs: number;
}

interface WaitingRequest extends SentResult {
  issued: number;
}

/** The actors of a backend with checks and agents, on a manual clock and a store in memory. */
export class TickWorld {
  readonly clock = new ManualClock(1_700_000_000_000);
  readonly store = new MemoryStore();
  readonly epochs = new Map<string, Epoch[]>();
  /** Results that are durable. */
  readonly answered: SentResult[] = [];
  #unconfirmed: SentResult[] = [];
  #waiting: WaitingRequest[] = [];
  #process: ProcessClock | undefined;
  #system: ActorSystem | undefined;
  readonly #sessions = new Map<string, AgentSession>();
  readonly #lastIssued = new Map<string, number>();

  async begin(): Promise<void> {
    const puts = emptyPuts();
    puts.resources.set(resourceKey('namespaces', undefined, 'default'), { name: 'default' });
    await this.store.write({ puts, ledger: [] });
    await this.start();
  }

  get system(): ActorSystem {
    if (this.#system === undefined) throw new Error('the backend is down');
    return this.#system;
  }

  get agents(): string[] {
    return [...this.#sessions.keys()];
  }

  async start(): Promise<void> {
    const process = new ProcessClock(this.clock);
    const system = new ActorSystem({ store: this.store, clock: process, log: new RecordedLog(), backendName: 'own' });
    this.#process = process;
    this.#system = system;
    system.listen({
      announced: (announcement) => {
        if (this.#system === system && announcement.type === 'check.requested') this.#deliver(system, announcement);
      },
    });
    await system.start();
    await this.clock.settle();
  }

  /** Ends the process at once. Its agents and its requests are lost. */
  async crash(): Promise<void> {
    this.#process?.stop();
    this.#system = undefined;
    this.#sessions.clear();
    this.#waiting = [];
    this.#unconfirmed = [];
    await this.clock.settle();
  }

  /** Lets time pass in small steps. After each the agents that are not mute answer. */
  async advance(ms: number, isMute: (agent: string) => boolean = () => false): Promise<void> {
    for (let left = ms; left > 0; left -= 1_000) {
      await this.clock.advance(Math.min(left, 1_000));
      if (this.#system !== undefined) await this.#answer(isMute);
    }
  }

  /** Lets writes wait until the returned function is called. */
  holdWrites(): () => void {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.store.beforeWrite = () => released;
    return () => {
      this.store.beforeWrite = () => Promise.resolve();
      release();
    };
  }

  connect(agentName: string): void {
    const session = quietSession({
      agentName,
      openedAtMs: this.clock.nowMs(),
      inputsLost: () => {
        this.#sessions.delete(agentName);
        this.#unconfirmed = [];
      },
    });
    this.system.agents.open(session);
    this.#sessions.set(agentName, session);
  }

  disconnect(agentName: string): void {
    const session = this.#sessions.get(agentName);
    this.#sessions.delete(agentName);
    this.#waiting = this.#waiting.filter(({ agent }) => agent !== agentName);
    if (session !== undefined) this.system.agents.notify(session.id, { type: 'socket.closed', code: 1006 });
  }

  /** Writes a check, or deletes it with an interval of 0. */
  async change(name: string, intervalS: number, publish: boolean): Promise<void> {
    const check = parseCheckShape({
      metadata: { name, namespace: 'default' },
      command: 'x',
      interval: intervalS,
      subscriptions: ['all'],
      publish,
      timeout: 2,
    });
    const { durable } = this.system.decider.decide({ cause: { user: 'u' } }, (ctx) => {
      const previous: Check | undefined = readResource(ctx.decision, 'checks', 'default', name);
      const key = resourceKey('checks', 'default', name);
      if (intervalS === 0) ctx.delete('resources', key);
      else ctx.put('resources', key, check);
      if (intervalS !== 0 || previous !== undefined) checkChanged(ctx, 'default', name, previous);
    });
    const epochs = this.epochs.get(name) ?? [];
    this.epochs.set(name, epochs);
    const atMs = this.clock.nowMs();
    const last = epochs.at(-1);
    if (last !== undefined) last.untilMs = atMs;
    epochs.push({ fromMs: atMs, untilMs: Infinity, intervalS, publish });
    await durable;
  }

  /** The outcomes of a check, or those that concern an entity, until now. */
  outcomes(check: string, entity?: string): TickOutcomeAt[] {
    const ticks = new TickStore(this.store);
    const ofCheck = ticks.ofCheck('default', check, 0) ?? [];
    const untilMs = this.clock.nowMs();
    if (entity === undefined) return [...checkOutcomes(ofCheck, 0, untilMs)];
    return [...entityOutcomes(ofCheck, ticks.ofEntity('default', check, entity, 0), 0, untilMs)];
  }

  #deliver(system: ActorSystem, requested: CheckRequested): void {
    const receipts = [...this.#sessions.values()].map(({ id, agentName }) => ({
      sessionId: id,
      agentName,
      isDropped: false,
    }));
    const { request, tickAtMs = 0 } = requested;
    const check = request.config.metadata.name ?? '';
    for (const { agentName: agent } of receipts) this.#waiting.push({ agent, check, tickAtMs, issued: request.issued });
    reportRequest(system.decider, requested, receipts);
  }

  async #answer(isMute: (agent: string) => boolean): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const request of waiting) {
      const session = this.#sessions.get(request.agent);
      if (session === undefined || isMute(request.agent)) continue;
      const { agent, check, tickAtMs, issued } = request;
      // Agents refuse a request that is not newer than the last one of the check (spec/04 1.5).
      if (issued <= (this.#lastIssued.get(`${agent}/${check}`) ?? 0)) continue;
      this.#lastIssued.set(`${agent}/${check}`, issued);
      const event = parseEvent(checkEvent(agent, check, { issued, interval: 10 }));
      try {
        this.system.agents.receiveEvent(session, { event, n: undefined, encoded: undefined });
        this.#unconfirmed.push({ agent, check, tickAtMs });
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
      }
    }
    await this.clock.settle();
    if (!this.system.isFailing) this.answered.push(...this.#unconfirmed);
    this.#unconfirmed = [];
  }
}

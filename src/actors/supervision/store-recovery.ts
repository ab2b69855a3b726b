import type { Log } from '../../ports/log.ts';
import type { LostKeys } from '../../store/committer.ts';
import type { ActorKind, ActorKinds } from '../core/actor-kind.ts';
import { type Decider, INTERNAL } from '../core/decider.ts';
import type { SystemListeners } from '../core/system-listeners.ts';
import type { AgentPort } from '../agents/agent-port.ts';
import { SILENCE } from '../events/silences.ts';
import { restartSchedules } from '../schedules/schedules.ts';
import type { DeadlineQueue } from '../time/deadline-queue.ts';
import type { BlindRecorder } from './blind-recorder.ts';

export interface StoreRecoveryPorts {
  kinds: ActorKinds;
  decider: Pick<Decider, 'decide'>;
  deadlineQueue: Pick<DeadlineQueue, 'start' | 'stop' | 'rebuild'>;
  /** Arms a deadline again from its stored record. */
  armed: { rearm(actor: ActorKind | typeof SILENCE, key: string): void };
  blindRecorder: Pick<BlindRecorder, 'add' | 'store'>;
  agents: Pick<AgentPort, 'recovered'>;
  listeners: Pick<SystemListeners, 'paused' | 'resumed'>;
  /** Steady time, ms. */
  steadyMs(): number;
  log: Log;
}

/** Brings the actors back to what is stored when a transaction fails, and back to work when the store can be written again. */
export class StoreRecovery {
  readonly #ports: StoreRecoveryPorts;
  #failedAtMs: number | undefined;

  constructor(ports: StoreRecoveryPorts) {
    this.#ports = ports;
  }

  /** A transaction failed: the actors of its keys are evicted, and their deadlines are read from the store again. */
  lost(keys: LostKeys, error: Error): void {
    const { deadlineQueue, listeners, armed, steadyMs, log } = this.#ports;
    log.error({ err: error }, 'store cannot be written');
    deadlineQueue.stop();
    this.#failedAtMs = steadyMs();
    listeners.paused();
    this.#revert('entity', keys.entities);
    this.#revert('check-ttl', keys.events);
    this.#revert('connection', keys.sessions);
    this.#revert('check-schedule', keysUnder('checks/', keys.resources));
    for (const key of keysUnder('silenced/', keys.resources)) armed.rearm(SILENCE, key);
  }

  /** The store can be written again: the time since it failed was blind, and what was not decided meanwhile is decided now. */
  recovered(): void {
    const { kinds, decider, deadlineQueue, blindRecorder, agents, listeners, steadyMs, log } = this.#ports;
    const endMs = steadyMs();
    const interval = { beginMs: this.#failedAtMs ?? endMs, endMs };
    blindRecorder.add(interval);
    log.warn({ blind_ms: endMs - interval.beginMs }, 'store can be written again');
    decider.decide(INTERNAL, (ctx) => {
      blindRecorder.store(ctx, 'store.recovered', interval);
      restartSchedules(ctx, kinds['check-schedule']);
    });
    agents.recovered();
    deadlineQueue.rebuild();
    deadlineQueue.start();
    listeners.resumed();
  }

  #revert(kind: ActorKind, keys: Iterable<string>): void {
    const { kinds, armed } = this.#ports;
    for (const key of keys) {
      kinds[kind].evict(key);
      armed.rearm(kind, key);
    }
  }
}

/** The keys that begin with `prefix`, without it. */
const keysUnder = (prefix: string, keys: Iterable<string>): string[] =>
  [...keys].filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));

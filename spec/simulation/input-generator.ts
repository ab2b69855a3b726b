import { handlerWithDefaults } from '../../src/resources/handler.ts';
import { jsonCodec, protobufCodec } from '../../src/wire/codec.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import type { Result } from './oracle/inputs.ts';
import type { SilenceInput } from './oracle/silence-changes.ts';
import { ANY, nameOf } from './oracle/silences.ts';
import type { AgentSettings } from './simulated-agent.ts';

export const NAMESPACE = 'default';
const AGENTS: readonly string[] = ['a1', 'a2', 'a3'];
const PROXIES: readonly string[] = ['p1', 'p2'];
const CHECKS = ['c1', 'c2', 'c3'];
/** The only check with flap thresholds. */
export const FLAPPING_CHECK = 'c3';
const HANDLERS = ['h1', 'h2', 'h3', 'keepalive', 'registration'];
const SET = 'set1';
const FILTERS = ['is_incident', 'not_silenced', 'has_metrics'];
const MISSING_HANDLER = 'missing-handler';
const SUBSCRIPTIONS = ['all', 'web'];
/** Warning and critical timeouts of keepalives, in seconds; 0 = none. */
const TIMEOUTS = [
  [5, 0],
  [5, 8],
  [8, 20],
  [20, 0],
  [0, 10],
  [10, 10],
] as const;
/** TTLs in seconds, 0 = none. No TTL divides a timeout above, so that an agent and its check rarely expire at the same moment. */
const TTLS = [0, 0, 7, 9, 11];

/** Generates random resources, events and agent settings from the seed of a run. */
export class InputGenerator {
  /** Agent names. The last one occurs twice: two connections share a name. */
  readonly agents = [...AGENTS, ...AGENTS.slice(-1)];
  readonly handlers = [...HANDLERS, SET];
  readonly #random: SeededRandom;
  #resultCount = 0;

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  pick<T>(from: readonly T[]): T {
    const picked = from[this.#random.below(from.length)];
    if (picked === undefined) throw new Error('nothing to choose from');
    return picked;
  }

  entity(): string {
    return this.pick([...AGENTS, ...PROXIES]);
  }

  classOf(entity: string): Result['entityClass'] {
    return AGENTS.includes(entity) ? 'agent' : 'proxy';
  }

  /** Returns one time in five the name of a proxy entity that a result is about. */
  proxy(): string | undefined {
    return this.#random.oneIn(5) ? this.pick(PROXIES) : undefined;
  }

  handler(): string {
    return this.pick(this.handlers);
  }

  agentSettings(name: string): AgentSettings {
    const random = this.#random;
    const [warningS, criticalS] = this.pick(TIMEOUTS);
    const keepalive = {
      agent: name,
      warningS,
      criticalS,
      deregister: random.oneIn(4),
      subscriptions: this.subscriptions(),
      handlers: random.oneIn(2) ? undefined : ['h2', SET],
      deregistrationHandler: random.oneIn(2) ? undefined : 'h1',
    };
    // The second agent has no queue, like the agents of the reference.
    const hasQueue = name !== AGENTS[1];
    return { name, codec: random.oneIn(2) ? jsonCodec : protobufCodec, hasQueue, keepalive, intervalS: 2 };
  }

  /** Returns the subscriptions of an entity. `all` is always one of them, so that every agent receives check requests. */
  subscriptions(): string[] {
    return SUBSCRIPTIONS.slice(0, this.#random.oneIn(2) ? 1 : 2);
  }

  /** Returns the subscriptions of a check. */
  #checkSubscriptions(): string[] {
    return SUBSCRIPTIONS.filter(() => this.#random.oneIn(2));
  }

  check(): string {
    return this.pick(CHECKS);
  }

  isCheck(name: string): boolean {
    return CHECKS.includes(name);
  }

  /** Returns a silence of any subscription and check, of a few seconds or without end. */
  silence(nowS: number): SilenceInput {
    const random = this.#random;
    const entities = [...AGENTS, ...PROXIES].map((name) => `entity:${name}`);
    const subscription = this.pick([ANY, ...SUBSCRIPTIONS, ...entities]);
    const checks = [...CHECKS, 'keepalive', 'deregistration'];
    const check = this.pick(subscription === ANY ? checks : [ANY, ANY, ...checks]);
    const begins = random.below(4);
    return {
      subscription,
      check,
      beginS: begins === 0 ? nowS + random.below(10) : begins === 1 ? nowS - random.below(10) : 0,
      expireAtS: random.oneIn(4) ? nowS + random.below(12) : 0,
      expireS: random.oneIn(2) ? 1 + random.below(15) : 0,
      endsOnResolve: random.oneIn(3),
    };
  }

  silenceName(nowS: number): string {
    return nameOf(this.silence(nowS));
  }

  /** Returns a check result that was executed now. */
  result(entity: string, nowS: number, subscriptions: readonly string[] = this.subscriptions()): Result {
    const random = this.#random;
    const check = this.check();
    this.#resultCount += 1;
    return {
      entity,
      entityClass: this.classOf(entity),
      proxy: undefined,
      check,
      subscriptions,
      checkSubscriptions: this.#checkSubscriptions(),
      status: random.oneIn(2) ? 0 : random.below(4),
      output: `result ${this.#resultCount}`,
      executedS: nowS,
      ttlS: this.pick(TTLS),
      alertStatus: random.oneIn(4) ? 2 : 1,
      lowFlap: check === FLAPPING_CHECK ? 15 : 0,
      highFlap: check === FLAPPING_CHECK ? 40 : 0,
      handlers: [...this.handlers, MISSING_HANDLER].filter(() => random.oneIn(6)),
    };
  }

  /** Returns a handler set or a pipe handler, with filters of which some reject events. */
  handlerOf(name: string) {
    const random = this.#random;
    const members = name === SET ? ['h1', 'h3', MISSING_HANDLER].filter(() => !random.oneIn(3)) : undefined;
    const filters = FILTERS.filter((_, index) => random.oneIn(2 + index * index));
    const kind =
      members === undefined ? { type: 'pipe', command: 'true', filters } : { type: 'set', handlers: members };
    return { resource: handlerWithDefaults({ metadata: { name, namespace: NAMESPACE }, ...kind }), members, filters };
  }
}

/** Returns the check of a result's event as it is sent. */
export function checkOf({ check: name, status, output, executedS, ttlS, alertStatus, ...result }: Result) {
  const annotations = alertStatus === 1 ? {} : { 'mon.io/ttl-status': String(alertStatus) };
  return {
    metadata: { name, namespace: NAMESPACE, annotations },
    interval: 1,
    status,
    output,
    executed: executedS,
    ttl: ttlS,
    low_flap_threshold: result.lowFlap,
    high_flap_threshold: result.highFlap,
    handlers: [...result.handlers],
    subscriptions: [...result.checkSubscriptions],
    // The backend must ignore both members: a sender does not decide what silences its event.
    silenced: ['sent'],
    is_silenced: true,
    proxy_entity_name: result.proxy ?? '',
  };
}

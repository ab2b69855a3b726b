import type { Clock } from '../ports/clock.ts';
import {
  configOf,
  type Entity,
  type EntityConfig,
  entityWithDefaults,
  joinEntity,
  type System,
} from '../resources/entity.ts';
import { DEFAULT_REDACT } from './redaction.ts';

export interface EntitySettings {
  readonly name: string;
  readonly namespace: string;
  readonly subscriptions: readonly string[];
  readonly user: string;
}

/** The agent's own entity: configured here until the backend says otherwise, observed here always. */
export class AgentEntity {
  readonly #local: EntityConfig;
  readonly #facts: () => System;
  readonly #clock: Clock;
  readonly #version: string;
  #config: EntityConfig;

  constructor(settings: EntitySettings, version: string, facts: () => System, clock: Clock) {
    const { name, namespace, user, subscriptions } = settings;
    const entity = entityWithDefaults({ entity_class: 'agent', user, metadata: { name, namespace } });
    this.#local = { ...configOf(entity), subscriptions: [...subscriptions], redact: [...DEFAULT_REDACT] };
    this.#config = this.#local;
    this.#version = version;
    this.#facts = facts;
    this.#clock = clock;
  }

  get name(): string {
    return this.#local.metadata.name ?? '';
  }

  get namespace(): string {
    return this.#local.metadata.namespace ?? '';
  }

  /** Holds for everything that is built afterwards, until the connection ends. False for the entity of somebody else. */
  adopt(config: EntityConfig): boolean {
    const { name, namespace } = config.metadata;
    if (name !== this.name || namespace !== this.namespace) return false;
    this.#config = config;
    return true;
  }

  /** A new connection begins with what is configured here. */
  forgetAdopted(): void {
    this.#config = this.#local;
  }

  current(): Entity {
    return joinEntity(this.#config, {
      system: this.#facts(),
      last_seen: Math.floor(this.#clock.nowMs() / 1000),
      sensu_agent_version: this.#version,
    });
  }
}

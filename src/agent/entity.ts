import type { Clock } from '../ports/clock.ts';
import {
  configOf,
  type Entity,
  type EntityConfig,
  entityWithDefaults,
  joinEntity,
  type System,
} from '../resources/entity.ts';
import { entityVariable, systemData } from '../resources/entity-data.ts';
import { DEFAULT_REDACT } from '../resources/redaction.ts';

/** Label that names the owner of the entity's configuration; all backends know it. */
const MANAGED_BY_LABEL = 'sensu.io/managed_by';
const MANAGED_BY_AGENT = 'sensu-agent';

export interface EntitySettings {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Empty for the default keys. */
  readonly redact: readonly string[];
  readonly subscriptions: readonly string[];
  readonly user: string;
  readonly deregister: boolean;
  /** Empty for none. */
  readonly deregistrationHandler: string;
  /** Whether the local configuration takes precedence over the stored one. */
  readonly isAgentManaged: boolean;
  readonly keepalive: { readonly handlers: readonly string[] };
}

interface EntityVariable {
  readonly config: EntityConfig;
  readonly system: System;
  readonly value: object;
}

function configured(settings: EntitySettings): EntityConfig {
  const { name, namespace, user, isAgentManaged, labels } = settings;
  const entity = entityWithDefaults({
    entity_class: 'agent',
    user,
    redact: settings.redact.length === 0 ? [...DEFAULT_REDACT] : [...settings.redact],
    deregister: settings.deregister,
    keepalive_handlers: [...settings.keepalive.handlers],
    metadata: {
      name,
      namespace,
      labels: { ...labels, ...(isAgentManaged ? { [MANAGED_BY_LABEL]: MANAGED_BY_AGENT } : {}) },
      annotations: { ...settings.annotations },
      ...(isAgentManaged ? { created_by: user } : {}),
    },
  });
  const deregistration = { handler: settings.deregistrationHandler || undefined };
  return { ...configOf(entity), subscriptions: [...settings.subscriptions], deregistration };
}

/**
 * The agent's own entity. Its configuration is local until the backend sends one; its state is always observed locally.
 */
export class AgentEntity {
  readonly #local: EntityConfig;
  readonly #systemInfo: () => System;
  readonly #clock: Clock;
  readonly #version: string;
  readonly #isAgentManaged: boolean;
  #config: EntityConfig;
  #variable: EntityVariable | undefined;

  constructor(settings: EntitySettings, version: string, systemInfo: () => System, clock: Clock) {
    this.#isAgentManaged = settings.isAgentManaged;
    this.#local = configured(settings);
    this.#config = this.#local;
    this.#version = version;
    this.#systemInfo = systemInfo;
    this.#clock = clock;
  }

  get name(): string {
    return this.#local.metadata.name ?? '';
  }

  get namespace(): string {
    return this.#local.metadata.namespace ?? '';
  }

  /**
   * Applies a configuration until the connection ends. It is ignored for an agent-managed entity. Returns false if it
   * belongs to another entity.
   */
  adopt(config: EntityConfig): boolean {
    const { name, namespace } = config.metadata;
    if (name !== this.name || namespace !== this.namespace) return false;
    if (!this.#isAgentManaged) this.#config = config;
    return true;
  }

  /** Restores the local configuration, for a new connection. */
  resetConfig(): void {
    this.#config = this.#local;
  }

  /** The entity as filters of assets see it. It is a new object when the configuration or the system has changed. */
  variable(): object {
    const [config, system] = [this.#config, this.#systemInfo()];
    if (this.#variable?.config !== config || this.#variable.system !== system) {
      const value = {
        ...entityVariable(config),
        system: systemData(system),
        last_seen: Math.floor(this.#clock.nowMs() / 1000),
        sensu_agent_version: this.#version,
      };
      this.#variable = { config, system, value };
    }
    return this.#variable.value;
  }

  current(): Entity {
    return joinEntity(this.#config, {
      system: this.#systemInfo(),
      last_seen: Math.floor(this.#clock.nowMs() / 1000),
      sensu_agent_version: this.#version,
    });
  }
}

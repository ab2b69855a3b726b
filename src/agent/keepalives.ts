import { randomUUID } from 'node:crypto';
import type { Clock } from '../ports/clock.ts';
import type { ResourceReference } from '../resources/check.ts';
import type { Entity } from '../resources/entity.ts';
import { type Event, eventCheckWithDefaults, eventWithDefaults } from '../resources/event.ts';

export interface KeepaliveSettings {
  readonly intervalS: number;
  readonly warningTimeoutS: number;
  /** 0 means none. */
  readonly criticalTimeoutS: number;
  /** Labels of the event, not of the entity. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly pipelines: readonly ResourceReference[];
}

interface KeepalivePorts {
  clock: Clock;
  entity(): Entity;
  nextSequence(checkName: string): number;
}

const CHECK_NAME = 'keepalive';

/** Sends a keepalive at once and then at each interval while a session is open. Keepalives are never queued. */
export class Keepalives {
  readonly #settings: KeepaliveSettings;
  readonly #ports: KeepalivePorts;
  #cancel = (): void => undefined;

  constructor(settings: KeepaliveSettings, ports: KeepalivePorts) {
    this.#settings = settings;
    this.#ports = ports;
  }

  begin(send: (keepalive: Event) => void): void {
    this.end();
    const { clock } = this.#ports;
    const intervalMs = this.#settings.intervalS * 1000;
    let dueMs = clock.monotonicMs();
    const beat = (): void => {
      // The schedule is relative to the due time, so that delays do not add up. Missed keepalives are skipped.
      const lateMs = clock.monotonicMs() - dueMs;
      dueMs += intervalMs * (1 + Math.floor(Math.max(0, lateMs) / intervalMs));
      this.#cancel = clock.after(dueMs - clock.monotonicMs(), beat);
      send(this.#keepalive());
    };
    beat();
  }

  end(): void {
    this.#cancel();
    this.#cancel = () => undefined;
  }

  #keepalive(): Event {
    const { intervalS, warningTimeoutS, criticalTimeoutS, labels, annotations, pipelines } = this.#settings;
    const entity = this.#ports.entity();
    const namespace = entity.metadata.namespace ?? '';
    return {
      ...eventWithDefaults({
        metadata: { namespace, labels: { ...labels }, annotations: { ...annotations } },
        pipelines: pipelines.map((pipeline) => ({ ...pipeline })),
      }),
      id: randomUUID(),
      timestamp: Math.floor(this.#ports.clock.nowMs() / 1000),
      sequence: this.#ports.nextSequence(CHECK_NAME),
      entity,
      check: eventCheckWithDefaults({
        metadata: { name: CHECK_NAME, namespace },
        interval: intervalS,
        timeout: warningTimeoutS,
        ttl: criticalTimeoutS,
      }),
    };
  }
}

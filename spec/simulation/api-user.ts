import { checkWithDefaults } from '../../src/resources/check.ts';
import { entityWithDefaults } from '../../src/resources/entity.ts';
import { parseEvent } from '../../src/resources/event.ts';
import { silencedWithDefaults } from '../../src/resources/silenced.ts';
import { type InputGenerator, checkOf, NAMESPACE as namespace } from './input-generator.ts';
import type { Result } from './oracle/inputs.ts';
import { nameOf } from './oracle/silences.ts';
import type { World } from './world.ts';

const USER = 'admin';
const LIMIT_REACHED = 'EntityLimitReached';

/** Sends random commands of an API user, each with its predicted answer. */
export class ApiUser {
  readonly #world: World;
  readonly #generate: InputGenerator;
  #puts = 0;

  constructor(world: World, generate: InputGenerator) {
    this.#world = world;
    this.#generate = generate;
  }

  putEvent(change: Partial<Result> = {}): void {
    const { entity = this.#generate.entity() } = change;
    const result = { ...this.#generate.result(entity, this.#world.nowS), ...change };
    const metadata = { name: entity, namespace };
    const subscriptions = [...result.subscriptions];
    const event = parseEvent({
      entity: { entity_class: result.entityClass, metadata, subscriptions },
      check: checkOf(result),
    });
    const mustBeNew = this.#world.random.oneIn(8);
    this.#world.command(
      (commands) => (mustBeNew ? commands.createEvent(event, USER) : commands.putEvent(event, USER)),
      (oracle) => {
        if (mustBeNew && oracle.hasEvent(entity, result.check)) return 'AlreadyExists';
        return oracle.result(result) ? undefined : LIMIT_REACHED;
      },
    );
  }

  deleteEvent(): void {
    const entity = this.#generate.entity();
    const check = this.#generate.pick([this.#generate.check(), 'keepalive']);
    this.#world.command(
      (commands) => commands.deleteEvent({ namespace, entity, check }, USER),
      (oracle) => (oracle.deleteEvent(entity, check) ? undefined : 'NotFound'),
    );
  }

  /** Returns metadata that differ from all others, because a PUT that changes nothing has no ledger entry. */
  #changedMetadata(name: string) {
    this.#puts += 1;
    return { name, namespace, annotations: { put: String(this.#puts) } };
  }

  putEntity(): void {
    const name = this.#generate.entity();
    const entityClass = this.#generate.classOf(name);
    const deregister = this.#world.random.oneIn(3);
    const subscriptions = this.#generate.subscriptions();
    const metadata = this.#changedMetadata(name);
    const entity = entityWithDefaults({ entity_class: entityClass, metadata, deregister, subscriptions });
    this.#world.command(
      (commands) => commands.putEntity(entity, USER),
      (oracle) => {
        return oracle.putEntity(name, entityClass, deregister, subscriptions) ? undefined : LIMIT_REACHED;
      },
    );
  }

  deleteEntity(): void {
    const name = this.#generate.entity();
    this.#world.command(
      (commands) => commands.deleteEntity(namespace, name, USER),
      (oracle) => (oracle.deleteEntity(name) ? undefined : 'NotFound'),
    );
  }

  putSilence(): void {
    const input = this.#generate.silence(this.#world.nowS);
    const { subscription, check, beginS, expireAtS, expireS, endsOnResolve } = input;
    const silenced = silencedWithDefaults({
      metadata: this.#changedMetadata(nameOf(input)),
      subscription,
      check,
      begin: beginS,
      expire: expireS,
      expire_at: expireAtS,
      expire_on_resolve: endsOnResolve,
    });
    const mustBeNew = this.#world.random.oneIn(3);
    this.#world.command(
      (commands) => (mustBeNew ? commands.createSilence(silenced, USER) : commands.putSilence(silenced, USER)),
      ({ silences }) => {
        if (mustBeNew && silences.has(nameOf(input))) return 'AlreadyExists';
        silences.put(input);
        return undefined;
      },
    );
  }

  deleteSilence(name: string): void {
    this.#world.command(
      (commands) => commands.deleteSilence(namespace, name, USER),
      ({ silences }) => (silences.delete(name) ? undefined : 'NotFound'),
    );
  }

  putCheck(): void {
    const name = this.#generate.check();
    const metadata = this.#changedMetadata(name);
    const interval = 5 + this.#world.random.below(30);
    const check = checkWithDefaults({ metadata, command: 'true', interval, publish: true, subscriptions: ['all'] });
    this.#world.command(
      (commands) => commands.putResource('checks', check, USER),
      (oracle) => {
        oracle.putCheck(name);
        return undefined;
      },
    );
  }

  deleteCheck(): void {
    const name = this.#generate.check();
    this.#world.command(
      (commands) => commands.deleteResource('checks', namespace, name, USER),
      (oracle) => (oracle.deleteCheck(name) ? undefined : 'NotFound'),
    );
  }

  putHandler(name = this.#generate.handler()): void {
    const { resource: generated, members, filters } = this.#generate.handlerOf(name);
    const resource = { ...generated, metadata: { ...generated.metadata, ...this.#changedMetadata(name) } };
    this.#world.command(
      (commands) => commands.putResource('handlers', resource, USER),
      (oracle) => {
        oracle.putHandler(name, { members, filters });
        return undefined;
      },
    );
  }

  deleteHandler(): void {
    const name = this.#generate.handler();
    this.#world.command(
      (commands) => commands.deleteResource('handlers', namespace, name, USER),
      (oracle) => (oracle.deleteHandler(name) ? undefined : 'NotFound'),
    );
  }
}

/**
 * An action, guard or restore of an actor threw. The whole decision being made is dropped, and its caller gets this
 * error.
 */
export class ActorFailed extends Error {
  readonly actor: string;
  readonly key: string;

  constructor(actor: string, key: string, cause: unknown) {
    super(`${actor} ${key} failed`, { cause });
    this.actor = actor;
    this.key = key;
  }
}

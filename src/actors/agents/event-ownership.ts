import { printable } from '../../formats/printable.ts';
import { Forbidden } from '../../resources/errors.ts';
import type { Event } from '../../resources/event.ts';
import { SYSTEM_NAMESPACE } from '../../resources/namespace.ts';
import { readResource } from '../../store/resource-store.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/** The session may not write this event. `reason` is one of a few values; `claimed` is the name or namespace in the event, cut if long. */
export class NotOwner extends Forbidden {
  readonly reason: 'namespace' | 'keepalive' | 'entity';
  readonly claimed: string;

  constructor(reason: NotOwner['reason'], claimed: string, messageFor: (claimed: string) => string) {
    const shown = printable(claimed);
    super(messageFor(shown));
    this.reason = reason;
    this.claimed = shown;
  }
}

interface Writer {
  readonly namespace: string;
  readonly agentName: string;
}

/** A session may write only in its own namespace, and never for the backend's entity. @throws NotOwner */
export function assertOwnNamespace({ namespace }: Writer, { entity, check, metadata }: Event): void {
  for (const named of [entity?.metadata.namespace, check?.metadata.namespace, metadata.namespace]) {
    if (named !== undefined && named !== namespace) {
      throw new NotOwner('namespace', named, (claimed) => `namespace ${claimed} is not the namespace of the session`);
    }
  }
  if (namespace === SYSTEM_NAMESPACE) {
    throw new NotOwner('namespace', namespace, (claimed) => `namespace ${claimed} is the backend's own`);
  }
}

/** @throws NotOwner */
export function assertOwnKeepalive({ agentName }: Writer, { entity }: Event): void {
  const name = entity?.metadata.name ?? '';
  if (name !== agentName) {
    throw new NotOwner('keepalive', name, () => 'keepalive entity must have the name of the session');
  }
}

/** Checks the entity under which the event would be stored. @throws NotOwner */
export function assertMayWrite(ctx: DecisionContext, { namespace, agentName }: Writer, { entity, check }: Event): void {
  const policy = ctx.settings.agentEventsPolicy;
  const proxyName = check?.proxy_entity_name ?? '';
  const name = proxyName === '' ? (entity?.metadata.name ?? '') : proxyName;
  if (name === agentName || policy === 'any') return;
  const isAgents = readResource(ctx.decision, 'entities', namespace, name)?.entity_class === 'agent';
  if (policy === 'own-and-proxies' && !isAgents) return;
  const reason = isAgents ? 'belongs to another agent' : "is not the agent's own";
  throw new NotOwner('entity', name, (claimed) => `entity ${claimed} ${reason} (agent-events-policy is ${policy})`);
}

import { at, CORE, MON, write } from '../../api/client.ts';

/** A silence, as the API has it. */
export interface Silence {
  metadata: { name: string; namespace: string; created_by?: string };
  subscription?: string;
  check?: string;
  reason?: string;
  creator?: string;
  begin: number;
  expire: number;
  expire_at: number;
  expire_on_resolve: boolean;
}

/** What a silence applies to; an absent part means all. */
export interface Target {
  subscription: string | undefined;
  check: string | undefined;
}

export interface Preview {
  name: string;
  count: number;
  events: readonly { entity: string; check: string; status: number }[];
}

export const silencesPath = (namespace: string): string => `${CORE}${at`/namespaces/${namespace}/silenced`}`;
export const silencePath = (namespace: string, name: string): string =>
  `${CORE}${at`/namespaces/${namespace}/silenced/${name}`}`;
export const previewPath = (namespace: string): string => `${MON}${at`/namespaces/${namespace}/silence-preview`}`;

export const nameOf = ({ subscription, check }: Target): string => `${subscription ?? '*'}:${check ?? '*'}`;

export interface Terms {
  /** Seconds; 0 = no end. */
  expire: number;
  expireOnResolve: boolean;
  reason: string;
  /** Unix seconds; 0 = now. */
  begin: number;
}

export async function createSilence(namespace: string, target: Target, terms: Terms): Promise<void> {
  await write('PUT', silencePath(namespace, nameOf(target)), {
    metadata: { namespace, name: nameOf(target) },
    subscription: target.subscription,
    check: target.check,
    reason: terms.reason,
    begin: terms.begin,
    expire: terms.expire,
    expire_on_resolve: terms.expireOnResolve,
  });
}

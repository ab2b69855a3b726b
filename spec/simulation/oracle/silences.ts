/** Stands for every subscription, or every check. */
export const ANY = '*';

/** A silence as in section 10.1 of the agent wire document, with its effective times. */
export interface ExpectedSilence {
  /** `*` = all. */
  subscription: string;
  /** `*` = all. */
  check: string;
  beginS: number;
  /** 0 = never. */
  expireAtS: number;
  endsOnResolve: boolean;
  /** The recorded state. */
  state: 'pending' | 'active';
}

/** The subscriptions that decide which silences apply to an event. */
export interface Reach {
  entitySubscriptions: readonly string[];
  checkSubscriptions: readonly string[];
  /** Whether the check names a proxy entity. */
  isProxied: boolean;
  /** Whether the event uses the stored entity in place of the sent one. */
  ofStoredEntity: boolean;
}

/** The reach of events whose check has no subscriptions, keepalives among them. */
export const NO_REACH: Reach = {
  entitySubscriptions: [],
  checkSubscriptions: [],
  isProxied: false,
  ofStoredEntity: false,
};

export const nameOf = ({ subscription, check }: Pick<ExpectedSilence, 'subscription' | 'check'>): string =>
  `${subscription}:${check}`;

export const isOver = ({ expireAtS }: ExpectedSilence, nowS: number): boolean => expireAtS !== 0 && expireAtS < nowS;

/** Section 10.2 and 10.3. */
export function actsOn(silence: ExpectedSilence, key: string, reach: Reach, nowS: number): boolean {
  if (silence.beginS > nowS || isOver(silence, nowS)) return false;
  const [, entity = '', check = ''] = key.split('/');
  const matches = (subscription: string): boolean =>
    [ANY, subscription].includes(silence.subscription) && [ANY, check].includes(silence.check);
  const { entitySubscriptions, checkSubscriptions, isProxied } = reach;
  if (matches(`entity:${entity}`)) return true;
  if (isProxied) return entitySubscriptions.some(matches);
  return checkSubscriptions.some((subscription) => entitySubscriptions.includes(subscription) && matches(subscription));
}

/** The time at which the start of a silence is recorded, Unix ms. */
export const beginMsOf = (beginS: number): number => beginS * 1_000;
/** The time at which the end is recorded, Unix ms. A silence applies until the end of its last second. */
export const endMsOf = (expireAtS: number): number => (expireAtS + 1) * 1_000;

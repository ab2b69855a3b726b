import { InvalidResource } from '../../resources/errors.ts';
import { assertSilenced, parseSilencedShape, type Silenced, silencedName } from '../../resources/silenced.ts';
import { annotationOf } from '../../rules/earlier-attributes.ts';
import { fromEarlierId } from '../../rules/earlier-silence.ts';
import { type Body, matching, NAME, optional, seconds, text, truth } from './body-members.ts';

const SUBSCRIPTION = /^[\w.:-]+$/;

interface SilenceContext {
  namespace: string;
  username: string;
  nowS: number;
}

/**
 * Converts an entry of the first generation to a silence. What the silence cannot hold is in its annotations. An entry that ends
 * when it begins is valid there. Source: spec/05 9.1. @throws InvalidResource
 */
export function silenceOf(body: Body, { namespace, nowS }: SilenceContext): { silence: Silenced; endsAtOnce: boolean } {
  const target = targetOf(body);
  const begin = optional(body, 'begin', seconds('begin'));
  const expire = optional(body, 'expire', seconds('expire'));
  const creator = optional(body, 'creator', (value) => text('creator', value));
  const silence = parseSilencedShape({
    metadata: {
      namespace,
      annotations: {
        [annotationOf('timestamp')]: JSON.stringify(nowS),
        [annotationOf('begin')]: JSON.stringify(begin ?? null),
        [annotationOf('creator')]: JSON.stringify(creator ?? null),
      },
    },
    ...target,
    reason: optional(body, 'reason', (value) => text('reason', value)),
    begin: begin !== undefined && begin > nowS ? begin : nowS,
    expire: expire ?? -1,
    expire_on_resolve: optional(body, 'expire_on_resolve', truth('expire_on_resolve')) ?? false,
  });
  assertSilenced(silence);
  return { silence, endsAtOnce: expire !== undefined && expire <= 0 };
}

/** Returns the name of the silence that a request clears: by its id, or by what it silences. @throws InvalidResource */
export function clearedName(body: Body): string {
  const id = optional(body, 'id', (value) => text('id', value));
  return id === undefined ? silencedName(targetOf(body)) : fromEarlierId(id);
}

function targetOf(body: Body): Pick<Silenced, 'subscription' | 'check'> {
  const subscription = optional(body, 'subscription', (value) => matching('subscription', value, SUBSCRIPTION));
  const check = optional(body, 'check', (value) => matching('check', value, NAME));
  if (subscription === undefined && check === undefined) {
    throw new InvalidResource('subscription or check must say what is silenced');
  }
  return { subscription: subscription === undefined ? undefined : fromEarlierId(subscription), check };
}
